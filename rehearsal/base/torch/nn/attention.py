"""Attention and what is built of it."""

from . import Module, ModuleList, _Layer, weight


class MultiheadAttention(_Layer):
    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, batch_first=False, **_):
        if embed_dim % num_heads:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self.embed_dim, self.num_heads, self.batch_first = embed_dim, num_heads, batch_first
        self.in_proj_weight, self.out_proj_weight = weight(3 * embed_dim, embed_dim), weight(embed_dim, embed_dim)

    def forward(self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None, average_attn_weights=True, **_):
        out = self.result(query, query.shape).like(others=(key, value))
        if not need_weights:
            return out, None
        length = 1 if self.batch_first else 0
        batch = query.shape[1 - length] if len(query.shape) > 2 else None
        pairs = (query.shape[length], key.shape[length]) if batch is not None else (query.shape[0], key.shape[0])
        return out, out.like(1.0 / pairs[1], pairs if batch is None else (batch, *pairs))


class TransformerEncoderLayer(_Layer):
    def __init__(self, d_model, nhead, *_, **__):
        self.weight = weight(d_model, d_model)

    def forward(self, x, *_, **__):
        return self.result(x, x.shape)


class TransformerDecoderLayer(TransformerEncoderLayer):
    def forward(self, x, memory, *_, **__):
        return self.result(x, x.shape).like(others=(memory,))


class TransformerEncoder(Module):
    def __init__(self, layer, num_layers, *_, **__):
        self.layers = ModuleList([layer])

    def forward(self, x, *_, **__):
        return self.layers[0](x)


class TransformerDecoder(TransformerEncoder):
    def forward(self, x, memory, *_, **__):
        return self.layers[0](x, memory)


class Transformer(Module):
    def __init__(self, d_model=512, nhead=8, *_, **__):
        self.encoder = TransformerEncoder(TransformerEncoderLayer(d_model, nhead), 1)
        self.decoder = TransformerDecoder(TransformerDecoderLayer(d_model, nhead), 1)

    def forward(self, src, tgt, *_, **__):
        return self.decoder(tgt, self.encoder(src))

    @staticmethod
    def generate_square_subsequent_mask(size, **_):
        from .. import zeros

        return zeros(size, size)


class _Distance(Module):
    def __init__(self, dim=1, **_):
        self.dim = dim

    def forward(self, a, b):
        return (a * b).mean(self.dim)


class CosineSimilarity(_Distance):
    pass


class PairwiseDistance(_Distance):
    def __init__(self, *_, **__):
        super().__init__(-1)


__all__ = [
    "MultiheadAttention", "Transformer", "TransformerEncoder", "TransformerDecoder", "TransformerEncoderLayer", "TransformerDecoderLayer",
    "CosineSimilarity", "PairwiseDistance",
]
