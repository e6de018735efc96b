//! Texts of a ledger: code of the program, or a message that a guide defines.

/// A text in one place of a ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Words {
    /// Code as written in the program, `args.batch_size`, or a term from a guide.
    Plain(String),
    /// Factors of a product.
    Product(Vec<Words>),
    /// A message by its name, with the values of its slots.
    Message(&'static str, Vec<(&'static str, Words)>),
}

impl Words {
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self::Plain(text.into())
    }

    /// Whether both are the same, whatever object the attributes belong to: `count` of one side may be `self.count` of
    /// the other.
    pub(crate) fn alike(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Plain(one), Self::Plain(other)) => last_names(one) == last_names(other),
            (Self::Product(one), Self::Product(other)) => {
                one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.alike(other))
            }
            (Self::Message(name, one), Self::Message(other_name, other)) => {
                let same = |((slot, one), (other_slot, other)): (&(_, Self), &(_, Self))| {
                    slot == other_slot && one.alike(other)
                };
                name == other_name && one.len() == other.len() && one.iter().zip(other).all(same)
            }
            _ => false,
        }
    }

    /// Multiplies numbers, drops ones, and keeps everything else.
    pub(crate) fn product<'w>(factors: impl Iterator<Item = &'w Self>) -> Self {
        let mut number: u64 = 1;
        let mut kept: Vec<Self> = Vec::new();
        for factor in factors {
            let read = match factor {
                Self::Plain(text) => text.parse::<u64>().ok(),
                _ => None,
            };
            match read.and_then(|factor| number.checked_mul(factor)) {
                Some(product) => number = product,
                None => kept.push(factor.clone()),
            }
        }
        if number != 1 || kept.is_empty() {
            kept.insert(0, Self::Plain(number.to_string()));
        }
        match kept.len() {
            1 => kept.remove(0),
            _ => Self::Product(kept),
        }
    }
}

impl From<&str> for Words {
    fn from(text: &str) -> Self {
        Self::plain(text)
    }
}

/// `8 × count` of `8 × self.count`.
fn last_names(text: &str) -> String {
    text.split(' ').map(|word| word.rsplit('.').next().unwrap_or(word)).collect::<Vec<_>>().join(" ")
}

/// Declares the messages of the ledger: a function for each, whose arguments fill its slots, and `LEDGER_MESSAGES`, the
/// list of all with their slots.
macro_rules! messages {
    ($($name:ident($($slot:ident),*);)*) => {
        $(
            pub(crate) fn $name($($slot: impl Into<Words>),*) -> Words {
                Words::Message(stringify!($name), vec![$((stringify!($slot), $slot.into())),*])
            }
        )*

        /// The messages of a ledger, each with its slots. A guide has to define their texts.
        pub const LEDGER_MESSAGES: &[(&str, &[&str])] = &[$((stringify!($name), &[$(stringify!($slot)),*])),*];
    };
}

messages! {
    micro_batch();
    gradient_accumulation();
    replicas();
    samples_per_step();
    device_iterations();
    scheduler_steps();
    loss_reduction();
    precision();
    processes();
    batch_split();
    batch_of_sampler(sampler);
    scheduler_outside_loop();
    scheduler_each_step();
    scheduler_after_calls(calls);
    scheduler_each_batch(batches);
    reduced_over_batch(reduction);
    reduced_over_accumulated(reduction, batches);
    reduced_over_replicas(reduction, replicas);
    autocast_to(dtype);
    autocast_under_test(dtype, test);
    autocast_with_scaler(types);
    samples_changed(new, old);
    device_iterations_changed(new, old);
    scheduler_changed(new, old);
    precision_changed(new, old);
    precision_test_unused(new, old, test);
    loss_scaling_removed(types);
    loss_scaling_removed_for(types);
    loss_scaling_added(types);
    accumulated_gradients_changed(new, old);
    loader_yields_steps(number);
    last_batch_dropped();
    batch_not_split();
}
