//! `Communicator`: collective operations between the ranks of one computation.

use crate::BackendError;

/// One of several ranks that run the same code, each on a share of the data.
///
/// All ranks call the same methods in the same order, from one thread each. Where one of them has
/// failed, calls return at once and leave their values as they are; [`Communicator::check`] reports it.
pub trait Communicator: Send + Sync {
    /// Number of this rank, from 0.
    fn rank(&self) -> usize;

    /// Number of ranks.
    fn size(&self) -> usize;

    /// Sums each value over all ranks, in the order of ranks: all get the same bits.
    fn sum(&self, values: &mut [f64]);

    /// Replaces each value by its maximum over all ranks.
    fn max(&self, values: &mut [f64]);

    /// Sends numbers to other ranks and receives theirs. Where one rank sends `n` numbers, the
    /// other must expect as many; empty parcels are not sent.
    fn exchange(&self, parcels: &mut [Parcel]);

    /// Writes the values of all ranks to `all`, in the order of ranks; `counts` are their numbers
    /// of values.
    fn gather(&self, own: &[f64], counts: &[usize], all: &mut [f64]);

    /// Reports to all other ranks that this one has failed, and why.
    fn fail(&self, message: &str);

    /// Checks that no rank has failed, as far as this one knows.
    ///
    /// # Errors
    /// [`BackendError`] with the message of the rank that has failed.
    fn check(&self) -> Result<(), BackendError>;

    /// Waits until all ranks have come here, if possible without using the CPU: some may take long.
    fn meet(&self) {
        self.any(false);
    }

    /// Whether `is_so` holds on any rank.
    fn any(&self, is_so: bool) -> bool {
        let mut value = [f64::from(is_so)];
        self.max(&mut value);
        value[0] > 0.0
    }

    /// Gathers the values of all ranks, by rank, whose numbers may differ.
    fn gather_all(&self, own: &[f64]) -> Vec<Vec<f64>> {
        let mut counts = vec![0.0; self.size()];
        counts[self.rank()] = own.len() as f64;
        self.sum(&mut counts);
        let counts: Vec<usize> = counts.iter().map(|&count| count as usize).collect();
        let mut all = vec![0.0; counts.iter().sum()];
        self.gather(own, &counts, &mut all);
        let mut rest = all.as_slice();
        let split = |&count: &usize| {
            let (values, others) = rest.split_at(count);
            rest = others;
            values.to_vec()
        };
        counts.iter().map(split).collect()
    }
}

/// Numbers exchanged with another rank, in both directions.
#[derive(Debug, Clone, PartialEq)]
pub struct Parcel {
    /// The other rank.
    pub rank: usize,
    /// Numbers to send.
    pub sent: Vec<f64>,
    /// Numbers received; the length before the exchange is the number expected.
    pub received: Vec<f64>,
}

impl Parcel {
    /// A parcel to another rank.
    pub fn sending(rank: usize, sent: Vec<f64>) -> Self {
        Self { rank, sent, received: Vec::new() }
    }

    /// A parcel of `n` numbers from another rank.
    pub fn receiving(rank: usize, n: usize) -> Self {
        Self { rank, sent: Vec::new(), received: vec![0.0; n] }
    }
}

/// The communicator of a single rank, which exchanges nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Alone;

impl Communicator for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn sum(&self, _: &mut [f64]) {}

    fn max(&self, _: &mut [f64]) {}

    fn exchange(&self, _: &mut [Parcel]) {}

    fn gather(&self, own: &[f64], _: &[usize], all: &mut [f64]) {
        all.copy_from_slice(own);
    }

    fn fail(&self, _: &str) {}

    fn check(&self) -> Result<(), BackendError> {
        Ok(())
    }
}

impl<C: Communicator + ?Sized> Communicator for &C {
    fn rank(&self) -> usize {
        (**self).rank()
    }

    fn size(&self) -> usize {
        (**self).size()
    }

    fn sum(&self, values: &mut [f64]) {
        (**self).sum(values);
    }

    fn max(&self, values: &mut [f64]) {
        (**self).max(values);
    }

    fn exchange(&self, parcels: &mut [Parcel]) {
        (**self).exchange(parcels);
    }

    fn gather(&self, own: &[f64], counts: &[usize], all: &mut [f64]) {
        (**self).gather(own, counts, all);
    }

    fn fail(&self, message: &str) {
        (**self).fail(message);
    }

    fn meet(&self) {
        (**self).meet();
    }

    fn check(&self) -> Result<(), BackendError> {
        (**self).check()
    }
}
