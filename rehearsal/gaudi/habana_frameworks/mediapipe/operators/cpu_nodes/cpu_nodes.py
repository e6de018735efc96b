"""`media_function`, to be a base class."""


class media_function:
    pass
