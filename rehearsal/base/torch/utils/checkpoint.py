def checkpoint(function, *args, **_):
    return function(*args)
