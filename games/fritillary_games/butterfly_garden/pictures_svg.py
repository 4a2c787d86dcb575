def svg_picture(observation):
    return "<svg></svg>"
