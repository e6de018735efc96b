use std::fmt;

/// Why a configuration, a file or a picture can't be used. Every message says what to change.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// A field of the configuration holds a value the network can't be built with.
    Config {
        /// The field's own name.
        field: &'static str,
        /// What is wrong with its value.
        problem: String,
    },
    /// The configuration is not the JSON object it should be.
    ConfigFile(String),
    /// The picture's height and width do not survive the way down and up again.
    Size {
        /// Height and width as given.
        given: (usize, usize),
        /// The next height and width that fit, none smaller than given; none when no size fits.
        next: Option<(usize, usize)>,
        /// Depth of the network.
        depth: usize,
    },
    /// The input tensor is not a stack of three planes.
    Input(String),
    /// A weight that the configuration asks for is not in the file.
    MissingKey {
        /// PyTorch name of the parameter.
        key: String,
        /// Its shape by the configuration.
        expected: Vec<usize>,
    },
    /// A weight of the network that the configuration has no place for.
    UnexpectedKey {
        /// PyTorch name found in the file.
        key: String,
        /// Its shape in the file.
        found: Vec<usize>,
    },
    /// A tensor has another shape than the configuration asks for.
    Shape {
        /// Name of the tensor.
        key: String,
        /// Shape by the configuration.
        expected: Vec<usize>,
        /// Shape in the file.
        found: Vec<usize>,
    },
    /// A number in a tensor is NaN or infinite.
    NotFinite {
        /// Name of the tensor.
        key: String,
        /// Position in row-major order, from zero.
        index: usize,
    },
    /// The bytes are not a readable tensor file.
    File(String),
    /// A pickle asks for a function or class of Python that makes no weights.
    Callable(
        /// Its name, with the module in front.
        String,
    ),
    /// The caller asked the run to stop.
    Cancelled,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Config { field, problem } => write!(f, "configuration: {field}: {problem}"),
            Error::ConfigFile(problem) => write!(f, "configuration: {problem}"),
            Error::Size { given: (h, w), next, depth } => {
                write!(f, "an image of {h} x {w} can't be downsampled and upsampled {depth} times; ")?;
                match next {
                    Some((h, w)) => write!(f, "the next valid size is {h} x {w}"),
                    None => write!(f, "no size is valid for this configuration"),
                }
            }
            Error::Input(problem) => write!(f, "input: {problem}"),
            Error::MissingKey { key, expected } => {
                write!(f, "weights: {key} is missing; the configuration expects it with shape {expected:?}")
            }
            Error::UnexpectedKey { key, found } => {
                write!(f, "weights: {key} with shape {found:?} is not part of this configuration")
            }
            Error::Shape { key, expected, found } => write!(f, "{key}: expected shape {expected:?}, found {found:?}"),
            Error::NotFinite { key, index } => write!(f, "{key}: the value at position {index} is not finite"),
            Error::File(problem) => write!(f, "tensor file: {problem}"),
            Error::Callable(name) => write!(
                f,
                "the pickle calls {name}, and pickles are not executed here; if you trust the file, save the weights \
                 only, with torch.save(net.state_dict(), FILE)"
            ),
            Error::Cancelled => write!(f, "cancelled"),
        }
    }
}

impl std::error::Error for Error {}
