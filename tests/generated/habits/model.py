"""Models: what goes in is `d.kind`; OUT stands for the number of outputs, which the loss decides."""

from draft import text
from registry import habit, needs, without


def define(d, block, made="$Net()"):
    d.models += [text(block)]
    d.model = made


@habit("model")
def sequential(d):
    d.model = "nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, OUT))"


@habit("model")
def perceptron(d):
    define(d, """
        class $Net(nn.Module):
            def __init__(self, width=12):
                super().__init__()
                self.fc1 = nn.Linear(6, width)
                self.fc2 = nn.Linear(width, OUT)

            def forward(self, x):
                return self.fc2(torch.tanh(self.fc1(x)))
        """)


@habit("model")
def dropout(d):
    define(d, """
        class $Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, OUT))

            def forward(self, x):
                return self.layers(x)
        """)


@habit("model")
def batch_norm(d):
    d.kind = "image"
    define(d, """
        class $Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = nn.Conv2d(1, 4, 3, padding=1)
                self.bn = nn.BatchNorm2d(4)
                self.fc = nn.Linear(4, OUT)

            def forward(self, x):
                x = torch.relu(self.bn(self.conv(x)))
                return self.fc(x.mean(dim=(2, 3)))
        """)


@habit("model")
def convolution(d):
    d.kind = "image"
    d.use("import torch.nn.functional as F")
    define(d, """
        class $Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv1 = nn.Conv2d(1, 4, 3)
                self.fc1 = nn.Linear(4 * 3 * 3, OUT)

            def forward(self, x):
                x = F.max_pool2d(F.relu(self.conv1(x)), 2)
                x = x.view(x.size(0), -1)
                return self.fc1(x)
        """)


@habit("model")
def embedding(d):
    d.kind = "tokens"
    define(d, """
        class $Net(nn.Module):
            def __init__(self, vocab=11, dim=8):
                super().__init__()
                self.embed = nn.Embedding(vocab, dim)
                self.head = nn.Linear(dim, OUT)

            def forward(self, tokens):
                return self.head(self.embed(tokens).mean(1))
        """)


@habit("model")
def recurrent(d):
    d.kind = "sequence"
    define(d, """
        class $Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.rnn = nn.LSTM(4, 8, batch_first=True)
                self.out = nn.Linear(8, OUT)

            def forward(self, x):
                h0 = torch.zeros(1, x.size(0), 8, device=x.device)
                c0 = torch.zeros(1, x.size(0), 8, device=x.device)
                seq, _ = self.rnn(x, (h0, c0))
                return self.out(seq[:, -1])
        """)


@habit("model")
def attention(d):
    d.kind = "tokens"
    define(d, """
        class $Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.tok = nn.Embedding(11, 8)
                self.pos = nn.Parameter(torch.zeros(1, 5, 8))
                self.attn = nn.MultiheadAttention(8, 2, batch_first=True)
                self.norm = nn.LayerNorm(8)
                self.head = nn.Linear(8, OUT)

            def forward(self, idx):
                h = self.tok(idx) + self.pos
                a, _ = self.attn(h, h, h)
                return self.head(self.norm(h + a).mean(dim=1))
        """)


@habit("model", without(loss="cross_entropy functional weighted smoothed summed likelihood by_sample masked"))
def autoencoder(d):
    d.same = True
    define(d, """
        class $Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.encoder = nn.Sequential(nn.Linear(6, 3), nn.ReLU())
                self.decoder = nn.Linear(3, 6)

            def forward(self, x):
                return self.decoder(self.encoder(x))
        """)


@habit("model")
def frozen_part(d):
    define(d, """
        class $Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.features = nn.Linear(6, 10)
                self.head = nn.Linear(10, OUT)

            def forward(self, x):
                return self.head(torch.relu(self.features(x)))
        """)
    d.after_model = ["for p in $model.features.parameters():", "    p.requires_grad = False"]
    d.parameters = "filter(lambda p: p.requires_grad, $model.parameters())"


@habit("model")
def buffer(d):
    define(d, """
        class $Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("scale", torch.full((6,), 0.5))
                self.fc = nn.Linear(6, OUT)

            def forward(self, x):
                return self.fc(x * self.scale)
        """)


@habit("model")
def shared_layer(d):
    define(d, """
        class $Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.inp = nn.Linear(6, 8)
                self.mid = nn.Linear(8, 8)
                self.out = nn.Linear(8, OUT)

            def forward(self, x):
                h = torch.relu(self.inp(x))
                for _ in range(2):
                    h = torch.relu(self.mid(h))
                return self.out(h)
        """)


@habit("model")
def two_outputs(d):
    define(d, """
        class $Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.body = nn.Linear(6, 8)
                self.head = nn.Linear(8, OUT)
                self.size = nn.Linear(8, 1)

            def forward(self, x):
                h = torch.relu(self.body(x))
                return self.head(h), self.size(h)
        """)
    d.forward = ["$out, $extra_out = $model($x)"]
    d.more_loss += ["$loss = $loss + 0.1 * $extra_out.pow(2).mean()"]


@habit("model", needs(structure="script main_function functions several_files"))
def builder(d):
    define(d, """
        def $build(hidden=12):
            layers = [nn.Linear(6, hidden), nn.ReLU()]
            layers.append(nn.Linear(hidden, OUT))
            return nn.Sequential(*layers)
        """, "$build()")
