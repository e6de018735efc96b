use std::fmt;

/// Why a configuration, a file or an image can't be used. Every message says what to change.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// A field of the configuration has a value with which the network can't be built.
    Config {
        /// The field's name.
        field: &'static str,
        /// What is wrong with its value.
        problem: String,
    },
    /// The configuration is not the expected JSON object.
    ConfigFile(String),
    /// The image's height and width can't be halved and doubled again.
    Size {
        /// Height and width as passed.
        given: (usize, usize),
        /// The next valid height and width, none smaller than those passed; none if no size is valid.
        next: Option<(usize, usize)>,
        /// Depth of the network.
        depth: usize,
    },
    /// The input tensor is not a stack of three planes.
    Input(String),
    /// A weight required by the configuration is not in the file.
    MissingKey {
        /// PyTorch name of the parameter.
        key: String,
        /// Its shape according to the configuration.
        expected: Vec<usize>,
    },
    /// A weight of the network that is not in the configuration.
    UnexpectedKey {
        /// PyTorch name found in the file.
        key: String,
        /// Its shape in the file.
        found: Vec<usize>,
    },
    /// A tensor has a different shape than the configuration requires.
    Shape {
        /// Name of the tensor.
        key: String,
        /// Shape according to the configuration.
        expected: Vec<usize>,
        /// Shape in the file.
        found: Vec<usize>,
    },
    /// A value in a tensor is NaN or infinite.
    NotFinite {
        /// Name of the tensor.
        key: String,
        /// Position in row-major order, from zero.
        index: usize,
    },
    /// The bytes are not a readable tensor file.
    File(String),
    /// A pickle calls a Python function or class that does not create weights.
    Callable(
        /// Its name, with the module.
        String,
    ),
    /// The caller requested the run to stop.
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
