from fritillary import hookimpl
@hookimpl
def draw_text(observation):
    return "x"
@hookimpl
def draw_svg(observation):
    return "<svg></svg>"
