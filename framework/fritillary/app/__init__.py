"""The application object: owns the plugins and the data folder, wires the layers."""
