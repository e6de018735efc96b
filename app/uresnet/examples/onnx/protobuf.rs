//! The few messages of ONNX that a network of convolutions needs, written as protocol buffers.
//!
//! Field numbers are those of `onnx.proto` (<https://github.com/onnx/onnx/blob/main/onnx/onnx.proto>).

/// A message under construction.
#[derive(Default)]
pub(crate) struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value > 127 {
            self.0.push(value as u8 | 128);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// An integer; not for negative ones.
    pub(crate) fn int(mut self, field: u64, value: usize) -> Message {
        self.varint(field << 3);
        self.varint(value as u64);
        self
    }

    fn float(mut self, field: u64, value: f32) -> Message {
        self.varint(field << 3 | 5);
        self.0.extend(value.to_le_bytes());
        self
    }

    fn bytes(mut self, field: u64, bytes: &[u8]) -> Message {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
        self
    }

    pub(crate) fn text(self, field: u64, text: &str) -> Message {
        self.bytes(field, text.as_bytes())
    }

    pub(crate) fn message(self, field: u64, inner: Message) -> Message {
        self.bytes(field, &inner.0)
    }

    pub(crate) fn messages(self, field: u64, inner: impl IntoIterator<Item = Message>) -> Message {
        inner.into_iter().fold(self, |message, inner| message.message(field, inner))
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// The value of a node's attribute.
pub(crate) enum Value<'a> {
    Float(f32),
    Int(usize),
    Text(&'a str),
    Ints(&'a [usize]),
}

/// `NodeProto`.
pub(crate) fn node(kind: &str, inputs: &[&str], outputs: &[&str], attributes: &[(&str, Value)]) -> Message {
    let node = inputs.iter().fold(Message::default(), |node, name| node.text(1, name));
    let node = outputs.iter().fold(node, |node, name| node.text(2, name)).text(4, kind);
    node.messages(
        5,
        attributes.iter().map(|(name, value)| {
            let attribute = Message::default().text(1, name);
            match value {
                Value::Float(value) => attribute.float(2, *value).int(20, 1),
                Value::Int(value) => attribute.int(3, *value).int(20, 2),
                Value::Text(value) => attribute.text(4, value).int(20, 3),
                Value::Ints(values) => values.iter().fold(attribute, |a, value| a.int(8, *value)).int(20, 7),
            }
        }),
    )
}

/// `TensorProto` of f32 values.
pub(crate) fn tensor(name: &str, shape: &[usize], data: &[f32]) -> Message {
    let bytes: Vec<u8> = data.iter().flat_map(|value| value.to_le_bytes()).collect();
    shape.iter().fold(Message::default(), |m, dim| m.int(1, *dim)).int(2, 1).text(8, name).bytes(9, &bytes)
}

/// `ValueInfoProto` of an f32 tensor.
pub(crate) fn value(name: &str, shape: &[usize]) -> Message {
    let dims = shape.iter().map(|dim| Message::default().int(1, *dim));
    let kind = Message::default().int(1, 1).message(2, Message::default().messages(1, dims));
    Message::default().text(1, name).message(2, Message::default().message(1, kind))
}
