//! Writes a preset with seeded weights as an ONNX file, so that other programs can be compared with ours.
//!
//! `cargo run --release -p uresnet --example onnx -- uresnet 320x512 FOLDER` writes `model.onnx` (input `x` [1, 3,
//! height, width], output `y` [1, 9, height, width]: plane by plane the three classes), and as plain little-endian f32
//! values `input.f32`, a synthetic event, and `expected.f32`, our own logits for it. Also `weights.safetensors` and
//! `config.json`, for PyTorch.

mod protobuf;

use protobuf::{Message, Value, node, tensor, value};
use std::path::Path;
use uresnet::{
    Alone, Block, CLASSES, Config, Connection, Event, Level, Network, PLANES, Series, Unit, Weights, run,
    write_safetensors,
};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [preset, size, folder] = arguments.as_slice() else {
        panic!("usage: onnx PRESET HEIGHTxWIDTH FOLDER");
    };
    let (height, width) = size.split_once('x').expect("a size such as 320x512");
    let (height, width) = (height.parse().unwrap(), width.parse().unwrap());
    let network = Network::new(&Config::preset(preset).expect("a preset")).unwrap();
    let weights = Weights::seeded(&network, 0);
    let input = Event::synthetic(0, height, width).picture;
    let output = run(&network, &weights, &input, &Alone).unwrap();

    let folder = Path::new(folder);
    std::fs::create_dir_all(folder).unwrap();
    let write = |name: &str, bytes: Vec<u8>| std::fs::write(folder.join(name), bytes).unwrap();
    let numbers = |data: &[f32]| data.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    write("model.onnx", model(&network, &weights, height, width));
    write("input.f32", numbers(input.data()));
    write("expected.f32", numbers(output.data()));
    write("weights.safetensors", write_safetensors(weights.iter()).unwrap());
    write("config.json", serde_json::to_vec(&network.config).unwrap());
}

fn model(network: &Network, weights: &Weights, height: usize, width: usize) -> Vec<u8> {
    let mut graph = Graph::default();
    graph.network(network);
    let constants = weights.iter().map(|(name, t)| tensor(name, t.shape(), t.data()));
    let graph = Message::default()
        .messages(1, graph.nodes)
        .text(2, "uresnet")
        .messages(5, constants.chain([tensor("double", &[4], &[1.0, 1.0, 2.0, 2.0])]))
        .message(11, value("x", &[1, PLANES, height, width]))
        .message(12, value("y", &[1, PLANES * CLASSES, height, width]));
    // Version 8 of the format, and 17 of the operators.
    Message::default().int(1, 8).message(7, graph).message(8, Message::default().text(1, "").int(2, 17)).finish()
}

/// Nodes so far. Every method receives the names of its inputs and returns the name of its output.
#[derive(Default)]
struct Graph {
    nodes: Vec<Message>,
}

impl Graph {
    fn push(&mut self, kind: &str, inputs: &[&str], attributes: &[(&str, Value)]) -> String {
        let name = format!("n{}", self.nodes.len());
        self.nodes.push(node(kind, inputs, &[&name], attributes));
        name
    }

    fn join(&mut self, parts: &[String]) -> String {
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        self.push("Concat", &parts, &[("axis", Value::Int(1))])
    }

    fn split(&mut self, from: &str, names: [&str; PLANES]) -> [String; PLANES] {
        self.nodes.push(node("Split", &[from], &names, &[("axis", Value::Int(1))]));
        names.map(str::to_string)
    }

    fn network(&mut self, network: &Network) {
        let mut planes = self.split("x", ["plane0", "plane1", "plane2"]).map(|x| self.unit(&network.initial, &x));
        let mut skips = Vec::new();
        for level in &network.levels {
            skips.push(planes.clone());
            planes = planes.map(|x| self.down(level, &x));
        }
        let deepest = &network.deepest;
        let deep = |graph: &mut Graph, x: &str| {
            let x = graph.unit(&deepest.bottleneck, x);
            let x = graph.series(&deepest.blocks, &x);
            graph.unit(&deepest.unbottleneck, &x)
        };
        planes = if deepest.joined {
            let x = self.join(&planes);
            let x = deep(self, &x);
            self.split(&x, ["deep0", "deep1", "deep2"])
        } else {
            planes.map(|x| deep(self, &x))
        };
        for (level, skips) in network.levels.iter().zip(skips).rev() {
            for (x, skip) in planes.iter_mut().zip(&skips) {
                *x = self.up(level, x, skip);
            }
        }
        let planes = planes.map(|x| {
            let x = self.series(&network.final_blocks, &x);
            self.unit(&network.head, &x)
        });
        let parts: Vec<&str> = planes.iter().map(String::as_str).collect();
        self.nodes.push(node("Concat", &parts, &["y"], &[("axis", Value::Int(1))]));
    }

    fn down(&mut self, level: &Level, x: &str) -> String {
        let mut x = self.series(&level.down_blocks, x);
        if level.pooled {
            let two = [2, 2];
            x = self.push("MaxPool", &[&x], &[("kernel_shape", Value::Ints(&two)), ("strides", Value::Ints(&two))]);
        }
        self.unit(&level.down, &x)
    }

    fn up(&mut self, level: &Level, x: &str, skip: &str) -> String {
        let x = match level.up.transposed {
            true => self.unit(&level.up, x),
            false => {
                let how =
                    [("mode", Value::Text("linear")), ("coordinate_transformation_mode", Value::Text("half_pixel"))];
                let x = self.push("Resize", &[x, "", "double"], &how);
                self.unit(&level.up, &x)
            }
        };
        let x = match &level.connection {
            Connection::None => x,
            Connection::Sum => self.push("Add", &[&x, skip], &[]),
            Connection::Concat(unit) => {
                let x = self.join(&[x, skip.to_string()]);
                self.unit(unit, &x)
            }
        };
        self.series(&level.up_blocks, &x)
    }

    fn series(&mut self, series: &Series, x: &str) -> String {
        series.blocks.iter().fold(x.to_string(), |x, block| match block {
            Block::Plain(unit) => self.unit(unit, &x),
            Block::Residual { first, second, .. } => {
                let y = self.unit(first, &x);
                let y = self.unit(second, &y);
                let y = self.push("Add", &[&y, &x], &[]);
                self.leaky(&y)
            }
        })
    }

    fn unit(&mut self, unit: &Unit, x: &str) -> String {
        let (weight, bias) = (format!("{}.weight", unit.conv_path), format!("{}.bias", unit.conv_path));
        let mut inputs = vec![x, &weight];
        if unit.bias {
            inputs.push(&bias);
        }
        let (kernel, strides, pads) = ([unit.kernel; 2], [unit.stride; 2], [unit.padding; 4]);
        let kind = if unit.transposed { "ConvTranspose" } else { "Conv" };
        let how =
            [("kernel_shape", Value::Ints(&kernel)), ("strides", Value::Ints(&strides)), ("pads", Value::Ints(&pads))];
        let mut y = self.push(kind, &inputs, &how);
        if unit.normalized {
            let [scale, shift, mean, variance] =
                ["weight", "bias", "running_mean", "running_var"].map(|part| format!("{}.norm.{part}", unit.path));
            let inputs = [&y, &scale, &shift, &mean, &variance].map(String::as_str);
            y = self.push("BatchNormalization", &inputs, &[("epsilon", Value::Float(1e-5))]);
        }
        if unit.activated { self.leaky(&y) } else { y }
    }

    fn leaky(&mut self, x: &str) -> String {
        self.push("LeakyRelu", &[x], &[("alpha", Value::Float(0.01))])
    }
}
