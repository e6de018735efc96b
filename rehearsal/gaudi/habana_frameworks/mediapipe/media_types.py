"""Names of types."""


class decoderStage:
    pass


class dtype:
    pass


class ftype:
    pass


class imgtype:
    pass


class randomCropType:
    pass
