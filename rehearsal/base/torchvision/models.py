from torch import nn


def resnet18(weights=None, num_classes=1000, pretrained=False, **_):
    net = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.BatchNorm2d(8), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    net.fc = nn.Linear(8, num_classes)
    return net


resnet50 = resnet18


class ResNet18_Weights:
    DEFAULT = None


class ResNet50_Weights(ResNet18_Weights):
    pass
