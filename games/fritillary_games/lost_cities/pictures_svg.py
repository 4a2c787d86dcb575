def svg_picture(o): return '<svg></svg>'
