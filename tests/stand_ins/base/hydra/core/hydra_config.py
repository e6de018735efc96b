class HydraConfig:
    pass
