//! Reads a pickle without executing it.
//!
//! A pickle is a program for a small machine (<https://docs.python.org/3/library/pickletools.html>), and one of its
//! instructions calls any Python function by name. This interpreter has no Python to call: it builds a tree of plain
//! values, supports the few calls that create tensors and containers, inserts a placeholder for an optimizer's other
//! objects, and stops with the name of anything else.

use std::collections::BTreeMap;

use crate::error::Error;

/// A value of the tree: an index, so that values are shared as the pickle shares them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Id(usize);

/// The values in a pickle.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// Numbers that are not integers, bytes, None: nothing that determines a tensor's location or shape.
    Plain,
    Int(i64),
    Text(String),
    /// Lists, tuples and sets.
    List(Vec<Id>),
    Dict(Vec<(Id, Id)>),
    /// A class or function by its module and name.
    Global(String),
    /// The values of tensors: class, key in the archive.
    Storage(String, String),
    Tensor(Stored),
    /// A placeholder for the result of a call, with the function's name.
    Object(String),
}

/// A tensor's location in its storage.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stored {
    /// The class of the storage, which determines its number type.
    pub(crate) class: String,
    /// Its key in the archive.
    pub(crate) key: String,
    /// In elements, like the strides.
    pub(crate) offset: usize,
    pub(crate) shape: Vec<usize>,
    pub(crate) strides: Vec<usize>,
}

impl Stored {
    /// Its number of elements; none on overflow.
    pub(crate) fn count(&self) -> Option<usize> {
        self.shape.iter().try_fold(1usize, |count, &length| count.checked_mul(length))
    }
}

/// A completely read pickle.
pub(crate) struct Pickle {
    values: Vec<Value>,
    root: Id,
}

impl Pickle {
    /// Interprets the instructions of a pickle.
    pub(crate) fn read(bytes: &[u8]) -> Result<Pickle, Error> {
        Machine { rest: bytes, values: Vec::new(), stack: Vec::new(), marks: Vec::new(), memo: BTreeMap::new() }.run()
    }

    pub(crate) fn root(&self) -> Id {
        self.root
    }

    pub(crate) fn get(&self, id: Id) -> &Value {
        &self.values[id.0]
    }
}

/// Calls that become placeholders: those that create optimizers, schedulers and NumPy numbers. A name that ends with a
/// dot matches everything in the module.
const HARMLESS: [&str; 14] = [
    "collections.",
    "datetime.",
    "_codecs.encode",
    "numpy.core.multiarray.scalar",
    "numpy.core.multiarray._reconstruct",
    "numpy._core.multiarray.scalar",
    "numpy._core.multiarray._reconstruct",
    "numpy.dtype",
    "torch.Size",
    "torch.device",
    "torch._utils.",
    "torch._tensor.",
    "torch.nn.parameter.",
    "torch.optim.",
];

struct Machine<'a> {
    rest: &'a [u8],
    values: Vec<Value>,
    stack: Vec<Id>,
    /// Heights of the stack.
    marks: Vec<usize>,
    memo: BTreeMap<usize, Id>,
}

fn fault(problem: impl std::fmt::Display) -> Error {
    Error::File(format!("the pickle can't be read: {problem}"))
}

impl Machine<'_> {
    fn run(mut self) -> Result<Pickle, Error> {
        loop {
            let [code] = self.take()?;
            if code == b'.' {
                let root = self.pop()?;
                return Ok(Pickle { values: self.values, root });
            }
            self.step(code)?;
        }
    }

    fn step(&mut self, code: u8) -> Result<(), Error> {
        match code {
            // The protocol version and the frames are not needed.
            0x80 => drop(self.take::<1>()?),
            0x95 => drop(self.take::<8>()?),
            b'(' => self.marks.push(self.stack.len()),
            b'0' => drop(self.pop()?),
            b'1' => drop(self.pop_mark()?),
            b'2' => self.stack.push(self.top()?),
            // Values.
            b'N' => self.push(Value::Plain),
            0x88 => self.push(Value::Int(1)),
            0x89 => self.push(Value::Int(0)),
            b'J' => self.int(i32::from_le_bytes)?,
            b'K' => self.int(u8::from_le_bytes)?,
            b'M' => self.int(u16::from_le_bytes)?,
            0x8a => self.long::<1>()?,
            0x8b => self.long::<4>()?,
            b'G' => {
                self.take::<8>()?;
                self.push(Value::Plain);
            }
            0x8c | b'U' => self.text::<1>()?,
            b'X' | b'T' => self.text::<4>()?,
            0x8d => self.text::<8>()?,
            b'C' => self.bytes::<1>()?,
            b'B' => self.bytes::<4>()?,
            0x8e | 0x96 => self.bytes::<8>()?,
            // Containers.
            b')' | b']' | 0x8f => self.push(Value::List(Vec::new())),
            b'}' => self.push(Value::Dict(Vec::new())),
            b't' | b'l' | 0x91 => {
                let items = self.pop_mark()?;
                self.push(Value::List(items));
            }
            0x85..=0x87 => {
                let length = usize::from(code - 0x84);
                let start = self.stack.len().checked_sub(length).ok_or_else(|| fault("its stack is empty"))?;
                let items = self.stack.split_off(start);
                self.push(Value::List(items));
            }
            b'd' => {
                let items = self.pop_mark()?;
                self.push(Value::Dict(pairs(&items)));
            }
            b'a' => {
                let item = self.pop()?;
                self.append(vec![item])?;
            }
            b'e' | 0x90 => {
                let items = self.pop_mark()?;
                self.append(items)?;
            }
            b's' => {
                let (value, key) = (self.pop()?, self.pop()?);
                self.set(&[key, value])?;
            }
            b'u' => {
                let items = self.pop_mark()?;
                self.set(&items)?;
            }
            // The memo.
            b'q' => self.remember::<1>()?,
            b'r' => self.remember::<4>()?,
            0x94 => drop(self.memo.insert(self.memo.len(), self.top()?)),
            b'h' => self.recall::<1>()?,
            b'j' => self.recall::<4>()?,
            // Names and calls.
            b'c' => {
                let name = format!("{}.{}", self.line()?, self.line()?);
                self.push(Value::Global(name));
            }
            0x93 => {
                let (name, module) = (self.pop()?, self.pop()?);
                let (Value::Text(module), Value::Text(name)) = (self.value(module), self.value(name)) else {
                    return Err(fault("a name is not a string"));
                };
                let name = format!("{module}.{name}");
                self.push(Value::Global(name));
            }
            b'Q' => self.storage()?,
            b'R' | 0x81 => {
                let (arguments, callable) = (self.pop()?, self.pop()?);
                self.call(callable, arguments)?;
            }
            0x92 => {
                let (_, arguments, callable) = (self.pop()?, self.pop()?, self.pop()?);
                self.call(callable, arguments)?;
            }
            // The state of an object: no supported object has one.
            b'b' => drop(self.pop()?),
            b'i' => return Err(Error::Callable(format!("{}.{}", self.line()?, self.line()?))),
            _ => return Err(fault(format!("unsupported instruction {code:#04x}"))),
        }
        Ok(())
    }

    /// Performs a call, if it is one of the few that are supported.
    fn call(&mut self, callable: Id, arguments: Id) -> Result<(), Error> {
        let Value::Global(name) = self.value(callable) else {
            return Err(fault("it calls something that is not a function"));
        };
        let name = name.clone();
        let Value::List(arguments) = self.value(arguments) else {
            return Err(fault(format!("{name} without arguments")));
        };
        let arguments = arguments.clone();
        let made = match name.as_str() {
            "collections.OrderedDict" | "collections.defaultdict" => Value::Dict(self.ordered(&arguments)),
            "torch._utils._rebuild_tensor" | "torch._utils._rebuild_tensor_v2" => self.tensor(&name, &arguments)?,
            "torch._utils._rebuild_parameter" | "torch._utils._rebuild_parameter_with_state" => {
                let data = *arguments.first().ok_or_else(|| fault(format!("{name} without arguments")))?;
                self.stack.push(data);
                return Ok(());
            }
            _ if HARMLESS.iter().any(|call| name == *call || call.ends_with('.') && name.starts_with(call)) => {
                Value::Object(name)
            }
            _ => return Err(Error::Callable(name)),
        };
        self.push(made);
        Ok(())
    }

    /// The entries of a dictionary that is created from a list of pairs, as in old versions of `OrderedDict`.
    fn ordered(&self, arguments: &[Id]) -> Vec<(Id, Id)> {
        let list = |id: &Id| match self.value(*id) {
            Value::List(items) => items.as_slice(),
            _ => &[],
        };
        let items = arguments.iter().flat_map(list).map(list);
        items.filter_map(|pair| pair.first().copied().zip(pair.get(1).copied())).collect()
    }

    fn tensor(&self, name: &str, arguments: &[Id]) -> Result<Value, Error> {
        let wrong = || fault(format!("{name} with unexpected arguments"));
        let [storage, offset, shape, strides, ..] = *arguments else { return Err(wrong()) };
        let whole = |id: &Id| match self.value(*id) {
            Value::Int(n) => usize::try_from(*n).ok(),
            _ => None,
        };
        let list = |id: Id| match self.value(id) {
            Value::List(items) => items.iter().map(whole).collect::<Option<Vec<usize>>>(),
            _ => None,
        };
        let Value::Storage(class, key) = self.value(storage) else { return Err(wrong()) };
        let (offset, shape) = (whole(&offset).ok_or_else(wrong)?, list(shape).ok_or_else(wrong)?);
        let strides = list(strides).filter(|strides| strides.len() == shape.len()).ok_or_else(wrong)?;
        Ok(Value::Tensor(Stored { class: class.clone(), key: key.clone(), offset, shape, strides }))
    }

    /// Storages are the only objects that a checkpoint refers to without containing them in the pickle.
    fn storage(&mut self) -> Result<(), Error> {
        let id = self.pop()?;
        let Value::List(parts) = self.value(id) else { return Err(fault("a storage without a key")) };
        let parts: Vec<&Value> = parts.iter().map(|part| self.value(*part)).collect();
        let [Value::Text(_), Value::Global(class), Value::Text(key), ..] = parts[..] else {
            return Err(fault("a storage without a key"));
        };
        let storage = Value::Storage(class.clone(), key.clone());
        self.push(storage);
        Ok(())
    }

    fn append(&mut self, more: Vec<Id>) -> Result<(), Error> {
        let to = self.top()?;
        if let Value::List(items) = &mut self.values[to.0] {
            items.extend(more);
        }
        Ok(())
    }

    fn set(&mut self, items: &[Id]) -> Result<(), Error> {
        let to = self.top()?;
        if let Value::Dict(entries) = &mut self.values[to.0] {
            entries.extend(pairs(items));
        }
        Ok(())
    }

    fn remember<const N: usize>(&mut self) -> Result<(), Error> {
        let (place, top) = (self.length::<N>()?, self.top()?);
        self.memo.insert(place, top);
        Ok(())
    }

    fn recall<const N: usize>(&mut self) -> Result<(), Error> {
        let place = self.length::<N>()?;
        let id = *self.memo.get(&place).ok_or_else(|| fault("it reads a memo entry that was never stored"))?;
        self.stack.push(id);
        Ok(())
    }

    fn int<const N: usize, I: Into<i64>>(&mut self, read: fn([u8; N]) -> I) -> Result<(), Error> {
        let bytes = self.take()?;
        self.push(Value::Int(read(bytes).into()));
        Ok(())
    }

    /// An integer of any length; one that does not fit into 64 bits can't be a size.
    fn long<const N: usize>(&mut self) -> Result<(), Error> {
        let length = self.length::<N>()?;
        let bytes = self.take_slice(length)?;
        let negative = bytes.last().is_some_and(|b| b & 0x80 != 0);
        let mut whole = [if negative { 0xff } else { 0 }; 8];
        self.push(match whole.get_mut(..bytes.len()) {
            Some(part) => {
                part.copy_from_slice(bytes);
                Value::Int(i64::from_le_bytes(whole))
            }
            None => Value::Plain,
        });
        Ok(())
    }

    fn text<const N: usize>(&mut self) -> Result<(), Error> {
        let length = self.length::<N>()?;
        let text = String::from_utf8_lossy(self.take_slice(length)?).into_owned();
        self.push(Value::Text(text));
        Ok(())
    }

    fn bytes<const N: usize>(&mut self) -> Result<(), Error> {
        let length = self.length::<N>()?;
        self.take_slice(length)?;
        self.push(Value::Plain);
        Ok(())
    }

    fn length<const N: usize>(&mut self) -> Result<usize, Error> {
        let bytes: [u8; N] = self.take()?;
        let mut whole = [0; 8];
        whole[..N].copy_from_slice(&bytes);
        usize::try_from(u64::from_le_bytes(whole)).map_err(fault)
    }

    fn line(&mut self) -> Result<String, Error> {
        let end = self.rest.iter().position(|b| *b == b'\n').ok_or_else(|| fault("unexpected end"))?;
        let line = String::from_utf8_lossy(self.take_slice(end)?).into_owned();
        self.take::<1>()?;
        Ok(line)
    }

    fn push(&mut self, value: Value) {
        self.stack.push(Id(self.values.len()));
        self.values.push(value);
    }

    fn pop(&mut self) -> Result<Id, Error> {
        let top = self.top()?;
        self.stack.pop();
        Ok(top)
    }

    fn top(&self) -> Result<Id, Error> {
        self.stack.last().copied().ok_or_else(|| fault("its stack is empty"))
    }

    fn pop_mark(&mut self) -> Result<Vec<Id>, Error> {
        let mark =
            self.marks.pop().filter(|&mark| mark <= self.stack.len()).ok_or_else(|| fault("a mark is missing"))?;
        Ok(self.stack.split_off(mark))
    }

    fn value(&self, id: Id) -> &Value {
        &self.values[id.0]
    }
}

impl<'a> Machine<'a> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let (head, rest) = self.rest.split_first_chunk().ok_or_else(|| fault("unexpected end"))?;
        self.rest = rest;
        Ok(*head)
    }

    fn take_slice(&mut self, length: usize) -> Result<&'a [u8], Error> {
        let (head, rest) = self.rest.split_at_checked(length).ok_or_else(|| fault("unexpected end"))?;
        self.rest = rest;
        Ok(head)
    }
}

fn pairs(items: &[Id]) -> Vec<(Id, Id)> {
    items.as_chunks().0.iter().map(|&[key, value]| (key, value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expected: Result<Value, &str>) {
        let found = Pickle::read(bytes).map(|pickle| pickle.get(pickle.root()).clone()).map_err(|e| e.to_string());
        match (found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{bytes:?}"),
            (Err(found), Err(expected)) => assert!(found.contains(expected), "{found}"),
            other => panic!("{bytes:?}: {other:?}"),
        }
    }

    #[test]
    fn values() {
        check(b"\x80\x02K\x07.", Ok(Value::Int(7)));
        check(b"J\xfe\xff\xff\xff.", Ok(Value::Int(-2)));
        check(b"\x8a\x02\x00\xff.", Ok(Value::Int(-256)));
        check(b"\x8a\x09\0\0\0\0\0\0\0\0\x01.", Ok(Value::Plain));
        check(b"X\x02\0\0\0hi.", Ok(Value::Text("hi".to_string())));
        check(b"K\x01K\x02\x86.", Ok(Value::List(vec![Id(0), Id(1)])));
        check(b"(K\x01K\x02t.", Ok(Value::List(vec![Id(0), Id(1)])));
        check(b"}(K\x01K\x02u.", Ok(Value::Dict(vec![(Id(1), Id(2))])));
        check(b"]q\x00K\x05ah\x00.", Ok(Value::List(vec![Id(1)])));
        check(b"ccollections\nOrderedDict\n)R.", Ok(Value::Dict(vec![])));
    }

    #[test]
    fn calls_are_named_and_not_made() {
        check(b"cposix\nsystem\nX\x02\0\0\0ls\x85R.", Err("calls posix.system"));
        check(b"\x8c\x08builtins\x8c\x04eval\x93\x8c\x011\x85R.", Err("calls builtins.eval"));
        check(b"csrc.net\nUResNet\n)\x81.", Err("calls src.net.UResNet"));
        check(b"(ios\nsystem\n.", Err("calls os.system"));
        check(
            b"ctorch.optim.lr_scheduler\nLambdaLR\n)R}b.",
            Ok(Value::Object("torch.optim.lr_scheduler.LambdaLR".into())),
        );
        check(b"ctorch.hub\nload\n)R.", Err("calls torch.hub.load"));
        check(b"cnumpy\ndtype_of_mine\n)R.", Err("calls numpy.dtype_of_mine"));
        check(b"cos\nsystem\n.", Ok(Value::Global("os.system".to_string())));
    }

    #[test]
    fn what_is_no_pickle_is_an_error() {
        for bytes in
            [&b""[..], b".", b"R.", b"u.", b"t.", b"a.", b"h\x05.", b"\x86.", b"X\xff\xff\xff\x7fa.", b"?", b"Q."]
        {
            check(bytes, Err("the pickle can't be read"));
        }
        check(b"K\x01K\x01R.", Err("not a function"));
        check(b"(K\x0101t.", Err("a mark is missing"));
    }
}
