//! Sparse matrices whose rows are divided among ranks.

use super::{RankVector, Ranks};
use crate::{
    BackendError, Communicator, Csr, Exchange, Gather, Halo, Link, Neighbor, Parcel, Share, Space,
};

/// Rows of one rank, and the entries of x that they need, own ones first.
pub struct RankMap<M, L, V> {
    map: M,
    lists: L,
    needed: V,
}

impl<B: Gather, C: Exchange<B>> Gather for Ranks<B, C> {
    type Map = RankMap<B::Map, C::Lists, B::Vector>;

    fn map(&self, rows: &Csr, [from, to]: [Space; 2]) -> Result<Self::Map, BackendError> {
        let share = |space| self.share(space).filter(Share::is_in_order);
        let [columns, shares] = [from, to].map(|space| share(space).expect("shared in order"));
        let rows = deal(&self.communicator, rows, &shares)?;
        let (rows, halo) = localized(&self.communicator, rows, &columns)?;

        let needed = Space { points: halo.n_points, ..from };
        Ok(RankMap {
            map: self.backend.map(&rows, [needed, self.own_space(to)])?,
            lists: self.communicator.lists(&self.backend, &halo, 1)?,
            needed: self.backend.zeros(needed)?,
        })
    }

    fn gather(
        &self,
        RankMap { map, lists, needed }: &mut Self::Map,
        x: &RankVector<B::Vector>,
        y: &mut RankVector<B::Vector>,
    ) {
        self.communicator.expand(&self.backend, lists, &x.own, needed);
        self.backend.gather(map, needed, &mut y.own);
    }
}

/// Returns the own ones of `rows`, which the first rank has.
fn deal(communicator: &dyn Communicator, rows: &Csr, share: &Share) -> Result<Csr, BackendError> {
    let mut own = Csr { starts: vec![0], columns: Vec::new(), values: Vec::new() };
    if communicator.rank() == 0 {
        for other in 1..communicator.size() {
            let link = Link::new(communicator, other);
            let Csr { starts, columns, values } = rows.some_rows(share.own(other));
            let lengths: Vec<u32> = starts.windows(2).map(|at| length(at[1] - at[0])).collect();
            link.send_numbers(&lengths);
            link.send_numbers(&columns);
            link.send(&values);
        }
        own = rows.some_rows(share.own(0));
    } else {
        let link = Link::new(communicator, 0);
        for length in link.receive_numbers() {
            own.starts.push(own.starts[own.starts.len() - 1] + length as usize);
        }
        (own.columns, own.values) = (link.receive_numbers(), link.receive());
    }
    communicator.check()?;
    Ok(own)
}

/// Length of a row, which has an entry per column at most, and columns are 32-bit numbers.
fn length(entries: usize) -> u32 {
    u32::try_from(entries).expect("a row has no column twice")
}

/// Returns `rows` with their columns counted among the own entries and the ghosts after them, and
/// the halo of these.
fn localized(
    communicator: &dyn Communicator,
    mut rows: Csr,
    share: &Share,
) -> Result<(Csr, Halo), BackendError> {
    let (rank, size) = (communicator.rank(), communicator.size());
    let own = share.own(rank);
    let is_own = |column: u32| own.contains(&(column as usize));
    let mut ghosts: Vec<u32> = rows.columns.iter().copied().filter(|&c| !is_own(c)).collect();
    ghosts.sort_unstable();
    ghosts.dedup();
    // Points of a part and its ghosts are points of the space, whose numbers have 32 bits.
    for column in &mut rows.columns {
        let ghost = ghosts.binary_search(column).map(|k| own.len() + k);
        *column = ghost.unwrap_or_else(|_| *column as usize - own.start) as u32;
    }

    // Every rank asks the owners of its ghosts for them, by their numbers among the owner's points.
    let place = |point: usize| ghosts.partition_point(|&ghost| (ghost as usize) < point);
    let of_rank = |other| place(share.own(other).start)..place(share.own(other).end);
    let n_asked: Vec<f64> = (0..size).map(|other| of_rank(other).len() as f64).collect();
    let n_asked = communicator.gather_all(&n_asked);
    communicator.check()?;
    let others = (0..size).filter(|&other| other != rank);
    let mut parcels: Vec<Parcel> = others
        .map(|other| {
            let place = |&ghost: &u32| (ghost as usize - share.own(other).start) as f64;
            Parcel {
                rank: other,
                sent: ghosts[of_rank(other)].iter().map(place).collect(),
                received: vec![0.0; n_asked[other][rank] as usize],
            }
        })
        .collect();
    communicator.exchange(&mut parcels);
    communicator.check()?;

    let neighbor = |Parcel { rank: other, received, .. }: &Parcel| Neighbor {
        rank: *other,
        sent: received.iter().map(|&point| point as u32).collect(),
        received: of_rank(*other).map(|k| (own.len() + k) as u32).collect(),
    };
    let neighbors = parcels.iter().map(neighbor);
    let neighbors = neighbors.filter(|found| !(found.sent.is_empty() && found.received.is_empty()));
    let halo = Halo {
        own: 0..own.len(),
        n_points: own.len() + ghosts.len(),
        neighbors: neighbors.collect(),
    };
    Ok((rows, halo))
}
