cuda = None
hip = None
__version__ = "2.7.0"
