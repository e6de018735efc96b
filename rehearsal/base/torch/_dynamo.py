class config:
    optimize_ddp = True
    suppress_errors = False
