"""The shared libclang reader: C++ expressions, statements and functions to IR. Dialects supply what is theirs through
``dialect.Dialect``."""
