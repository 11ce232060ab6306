"""Tools that act: files and search, behind one path check. Implements ``engine.tools``."""
