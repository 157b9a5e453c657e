//! Virtual ranks: threads of one process.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::{BackendError, Communicator, Parcel};

/// A virtual rank, which sends messages to the others.
#[derive(Debug)]
pub struct Threads {
    rank: usize,
    /// Senders by rank; the one of this rank is not used.
    to: Vec<Sender<Message>>,
    from: Vec<Mutex<Receiver<Message>>>,
    /// Reason for which the ranks stop, once this one knows it.
    failure: OnceLock<String>,
}

#[derive(Debug)]
enum Message {
    Values(Vec<f64>),
    Failed(String),
}

/// A rank that could not do its work.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("rank {rank}: {cause}")]
pub struct RankFailure<E: Display> {
    /// The first rank that failed by itself.
    pub rank: usize,
    /// Why.
    pub cause: Cause<E>,
}

/// Why a rank failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Cause<E: Display> {
    /// An error of its work.
    #[error("{0}")]
    Error(E),
    /// Message of a panic.
    #[error("{0}")]
    Panic(String),
}

impl Threads {
    /// Runs `work` on `size` ranks at once, one thread per rank, and returns the results by rank.
    ///
    /// # Errors
    /// [`RankFailure`] of the first rank that failed by itself, not because another one did. A rank
    /// that returns an error or panics wakes those that wait for it.
    pub fn run<T: Send, E: Display + Send>(
        size: usize,
        work: impl Fn(&Self) -> Result<T, E> + Sync,
    ) -> Result<Vec<T>, RankFailure<E>> {
        let ranks = Self::connected(size);
        let mut ended = Vec::with_capacity(size);
        std::thread::scope(|scope| {
            let work = &work;
            let threads: Vec<_> =
                ranks.into_iter().map(|rank| scope.spawn(move || rank.attend(work))).collect();
            ended.extend(threads.into_iter().map(|thread| {
                thread.join().unwrap_or_else(|_| Err((true, Cause::Panic("panicked".into()))))
            }));
        });

        let (mut done, mut failures) = (Vec::new(), Vec::new());
        for (rank, end) in ended.into_iter().enumerate() {
            match end {
                Ok(value) => done.push(value),
                Err((by_itself, cause)) => failures.push((!by_itself, RankFailure { rank, cause })),
            }
        }
        match failures.into_iter().min_by_key(|(by_another, failure)| (*by_another, failure.rank)) {
            Some((_, failure)) => Err(failure),
            None => Ok(done),
        }
    }

    /// Builds ranks with a channel between every two of them.
    fn connected(size: usize) -> Vec<Self> {
        let mut to: Vec<Vec<Sender<Message>>> = (0..size).map(|_| Vec::new()).collect();
        let mut ranks = Vec::with_capacity(size);
        let mut from = Vec::with_capacity(size);
        for _ in 0..size {
            let mut receivers = Vec::with_capacity(size);
            for to in &mut to {
                let (sender, receiver) = channel();
                to.push(sender);
                receivers.push(Mutex::new(receiver));
            }
            from.push(receivers);
        }
        for (rank, (to, from)) in to.into_iter().zip(from).enumerate() {
            ranks.push(Self { rank, to, from, failure: OnceLock::new() });
        }
        ranks
    }

    /// Does the work of this rank. Of a failure it says whether it came by itself.
    fn attend<T, E: Display>(
        self,
        work: &(impl Fn(&Self) -> Result<T, E> + Sync),
    ) -> Result<T, (bool, Cause<E>)> {
        let cause = match catch_unwind(AssertUnwindSafe(|| work(&self))) {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(error)) => Cause::Error(error),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
                Cause::Panic(text.unwrap_or("panicked").into())
            }
        };
        let by_itself = self.failure.get().is_none();
        self.fail(&cause.to_string());
        Err((by_itself, cause))
    }

    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let rank = self.rank;
        (0..self.to.len()).filter(move |&other| other != rank)
    }

    fn send(&self, rank: usize, values: Vec<f64>) {
        // A rank that is gone is noticed where its values are missed.
        let _ = self.to[rank].send(Message::Values(values));
    }

    /// The next values of a rank; none once any has failed.
    fn receive(&self, rank: usize) -> Option<Vec<f64>> {
        if self.failure.get().is_some() {
            return None;
        }
        let receiver = self.from[rank].lock().unwrap_or_else(PoisonError::into_inner);
        match receiver.recv() {
            Ok(Message::Values(values)) => return Some(values),
            Ok(Message::Failed(message)) => self.note(message),
            Err(_) => self.note(format!("rank {rank} ended before the others")),
        }
        None
    }

    /// Keeps the first failure, and hands it on, so that none waits for a rank that has given up.
    fn note(&self, message: String) {
        if self.failure.set(message.clone()).is_ok() {
            for other in self.others() {
                let _ = self.to[other].send(Message::Failed(message.clone()));
            }
        }
    }

    /// Combines the values of all ranks in their order.
    fn combine(&self, values: &mut [f64], combined: impl Fn(f64, f64) -> f64) {
        if self.failure.get().is_some() {
            return;
        }
        self.others().for_each(|other| self.send(other, values.to_vec()));
        let mut total: Option<Vec<f64>> = None;
        for rank in 0..self.to.len() {
            let of_rank =
                if rank == self.rank { Some(values.to_vec()) } else { self.receive(rank) };
            let Some(of_rank) = of_rank else { return };
            match &mut total {
                None => total = Some(of_rank),
                Some(total) => {
                    total.iter_mut().zip(of_rank).for_each(|(a, b)| *a = combined(*a, b));
                }
            }
        }
        values.copy_from_slice(&total.unwrap_or_default());
    }
}

impl Communicator for Threads {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.to.len()
    }

    fn sum(&self, values: &mut [f64]) {
        self.combine(values, |a, b| a + b);
    }

    fn max(&self, values: &mut [f64]) {
        self.combine(values, f64::max);
    }

    fn exchange(&self, parcels: &mut [Parcel]) {
        if self.failure.get().is_some() {
            return;
        }
        for parcel in parcels.iter_mut().filter(|parcel| !parcel.sent.is_empty()) {
            self.send(parcel.rank, std::mem::take(&mut parcel.sent));
        }
        for parcel in parcels.iter_mut().filter(|parcel| !parcel.received.is_empty()) {
            let Some(values) = self.receive(parcel.rank) else { return };
            parcel.received.copy_from_slice(&values);
        }
    }

    fn gather(&self, own: &[f64], counts: &[usize], all: &mut [f64]) {
        if self.failure.get().is_some() {
            return;
        }
        self.others().for_each(|other| self.send(other, own.to_vec()));
        let mut rest = all;
        for (rank, &count) in counts.iter().enumerate() {
            let (place, others) = rest.split_at_mut(count);
            rest = others;
            if rank == self.rank {
                place.copy_from_slice(own);
            } else {
                let Some(values) = self.receive(rank) else { return };
                place.copy_from_slice(&values);
            }
        }
    }

    fn fail(&self, message: &str) {
        self.note(format!("rank {}: {message}", self.rank));
    }

    fn check(&self) -> Result<(), BackendError> {
        match self.failure.get() {
            None => Ok(()),
            Some(message) => Err(BackendError {
                device: format!("rank {}", self.rank),
                operation: "communication".into(),
                message: message.clone(),
            }),
        }
    }
}

#[cfg(test)]
mod tests;
