//! Values of any number from one rank to another.

use rayon::prelude::*;

use crate::space::ROUND;
use crate::{Communicator, Parcel};

/// The way from one rank to another. What the one sends the other receives, in the same order and
/// by the methods that belong together. It crosses in rounds, as it may have to by way of a device.
///
/// Where a rank has failed, what is received is empty or 0, and [`Communicator::check`] reports it.
pub struct Link<'c> {
    communicator: &'c dyn Communicator,
    other: usize,
}

impl<'c> Link<'c> {
    /// To and from the rank `other`.
    pub fn new(communicator: &'c dyn Communicator, other: usize) -> Self {
        Self { communicator, other }
    }

    /// Sends `values`.
    pub fn send(&self, values: &[f64]) {
        self.send_length(values.len());
        for round in values.chunks(ROUND) {
            self.cross(round.to_vec(), 0);
        }
    }

    /// Receives values of [`Link::send`].
    pub fn receive(&self) -> Vec<f64> {
        let n = self.receive_length();
        let mut values = Vec::with_capacity(n);
        while values.len() < n {
            values.extend(self.arrived((n - values.len()).min(ROUND)));
        }
        values
    }

    /// Sends `numbers`, two in the room of a value.
    pub fn send_numbers(&self, numbers: &[u32]) {
        self.send_length(numbers.len());
        let value = |pair: &[u32]| {
            let second = pair.get(1).map_or(0, |&second| u64::from(second) << 32);
            f64::from_bits(u64::from(pair[0]) | second)
        };
        for round in numbers.chunks(2 * ROUND) {
            self.cross(round.par_chunks(2).with_min_len(1 << 12).map(value).collect(), 0);
        }
    }

    /// Receives numbers of [`Link::send_numbers`].
    pub fn receive_numbers(&self) -> Vec<u32> {
        let n = self.receive_length();
        let mut pairs = Vec::with_capacity(n.div_ceil(2));
        while 2 * pairs.len() < n {
            let values = self.arrived((n - 2 * pairs.len()).div_ceil(2).min(ROUND));
            let pair = |value: f64| [value.to_bits() as u32, (value.to_bits() >> 32) as u32];
            pairs.par_extend(values.into_par_iter().map(pair));
        }
        let mut numbers = pairs.into_flattened();
        numbers.truncate(n);
        numbers
    }

    /// Sends `text`.
    pub fn send_text(&self, text: &str) {
        let numbers: Vec<u32> = text.bytes().map(u32::from).collect();
        self.send_numbers(&numbers);
    }

    /// Receives text of [`Link::send_text`].
    pub fn receive_text(&self) -> String {
        let bytes = self.receive_numbers().into_iter().map(|byte| byte as u8).collect();
        String::from_utf8(bytes).unwrap_or_default()
    }

    fn send_length(&self, n: usize) {
        self.cross(vec![n as f64], 0);
    }

    fn receive_length(&self) -> usize {
        self.arrived(1)[0] as usize
    }

    fn arrived(&self, n: usize) -> Vec<f64> {
        self.cross(Vec::new(), n)
    }

    /// Sends some values and receives `n`.
    fn cross(&self, sent: Vec<f64>, n: usize) -> Vec<f64> {
        let mut parcels = [Parcel { rank: self.other, sent, received: vec![0.0; n] }];
        self.communicator.exchange(&mut parcels);
        let [parcel] = parcels;
        parcel.received
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BackendError, Threads};

    #[test]
    fn what_is_sent_arrives_to_the_bit() {
        let values = [1.0, -0.0, f64::NAN, f64::INFINITY, 1e-310, 7.0, 8.0];
        let numbers: Vec<u32> = (0..11).map(|n| u32::MAX - n * n).collect();
        let text = "{\"label\":\"Länge\"}";

        let done = Threads::run(2, |rank| {
            let link = Link::new(rank, 1 - rank.rank());
            if rank.rank() == 0 {
                link.send(&values);
                link.send_numbers(&numbers);
                link.send(&[]);
                link.send_numbers(&numbers[..1]);
                link.send_text(text);
                return Ok::<_, BackendError>(());
            }

            let bits = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&link.receive()), bits(&values));
            assert_eq!(link.receive_numbers(), numbers);
            assert!(link.receive().is_empty());
            assert_eq!(link.receive_numbers(), numbers[..1]);
            assert_eq!(link.receive_text(), text);
            Ok(())
        });
        assert!(done.is_ok());
    }
}
