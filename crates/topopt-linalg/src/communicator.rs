//! Communication between ranks that compute one thing together.

use crate::BackendError;

/// One of several ranks that run the same code, each on a share of the data.
///
/// All ranks call the same methods in the same order, from one thread each. Where one of them has
/// failed, calls return at once and leave their values as they are; [`Communicator::check`] reports it.
pub trait Communicator: Send + Sync {
    /// Number of this rank, from 0.
    fn rank(&self) -> usize;

    /// How many ranks there are.
    fn size(&self) -> usize;

    /// Sums the values over all ranks, in their order: all get the same bits.
    fn sum(&self, values: &mut [f64]);

    /// The largest of each value over all ranks.
    fn max(&self, values: &mut [f64]);

    /// Sends to other ranks and receives from them. Parcels without a number do not travel: where
    /// one rank sends `n` numbers, the other receives as many.
    fn exchange(&self, parcels: &mut [Parcel]);

    /// Writes the values of all ranks to `all`, in their order; `counts` are the numbers of values
    /// by rank.
    fn gather(&self, own: &[f64], counts: &[usize], all: &mut [f64]);

    /// Reports to all other ranks that this one has failed, and why.
    fn fail(&self, message: &str);

    /// Whether all ranks are well as far as this one knows.
    ///
    /// # Errors
    /// [`BackendError`] with the message of the rank that has failed.
    fn check(&self) -> Result<(), BackendError>;

    /// Waits until all ranks have come here, which may take some of them long: where that can be,
    /// without work.
    fn meet(&self) {
        self.any(false);
    }

    /// Whether it is so on any rank.
    fn any(&self, is_so: bool) -> bool {
        let mut value = [f64::from(is_so)];
        self.max(&mut value);
        value[0] > 0.0
    }

    /// The values of all ranks, by rank, however many each has.
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
    /// Numbers received; its length before the exchange is how many are expected.
    pub received: Vec<f64>,
}

impl Parcel {
    /// One that goes to another rank.
    pub fn sending(rank: usize, sent: Vec<f64>) -> Self {
        Self { rank, sent, received: Vec::new() }
    }

    /// One of `n` numbers that comes from another rank.
    pub fn receiving(rank: usize, n: usize) -> Self {
        Self { rank, sent: Vec::new(), received: vec![0.0; n] }
    }
}

/// The only rank, for which nothing crosses.
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
