"""IR to text: one base emitter; a dialect is a table of attributes and a few overrides."""
