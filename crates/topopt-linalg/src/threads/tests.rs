//! Virtual ranks: sums, exchanges, gathers, and ranks that fail.

use std::convert::Infallible;

use super::*;

/// Returns the results of `work` on `size` ranks that do not fail.
fn on<T: Send>(size: usize, work: impl Fn(&Threads) -> T + Sync) -> Vec<T> {
    Threads::run(size, |rank| Ok::<_, Infallible>(work(rank))).unwrap()
}

#[test]
fn sums_are_in_the_order_of_ranks_and_the_same_bits_on_all() {
    for size in [1, 2, 3, 8] {
        let value = |rank: usize| [(rank as f64 + 0.1).sin() * 1e3, 1.0 / (rank as f64 + 3.0)];
        let sums = on(size, |rank| {
            let mut values = value(rank.rank());
            rank.sum(&mut values);
            values
        });
        let mut expected = value(0);
        (1..size).for_each(|rank| (0..2).for_each(|i| expected[i] += value(rank)[i]));
        assert!(sums.iter().all(|sum| *sum == expected), "{size}");
    }
}

#[test]
fn the_largest_and_whether_any_are_known_to_all() {
    let found = on(5, |rank| {
        let mut values = [-(rank.rank() as f64), if rank.rank() == 3 { 7.0 } else { 1.0 }];
        rank.max(&mut values);
        (values, rank.any(rank.rank() == 2), rank.any(false))
    });
    assert!(found.iter().all(|found| *found == ([0.0, 7.0], true, false)));
}

#[test]
fn parcels_go_to_neighbors_alone_and_one_way_as_well() {
    // Each sends as many numbers as its own to the next rank; the last one to none.
    let size = 6;
    let received = on(size, |rank| {
        let own = rank.rank();
        let mut parcels = Vec::new();
        if own + 1 < size {
            let sent = vec![own as f64; own + 1];
            parcels.push(Parcel { rank: own + 1, sent, received: Vec::new() });
        }
        if own > 0 {
            let received = vec![0.0; own];
            parcels.push(Parcel { rank: own - 1, sent: Vec::new(), received });
        }
        rank.exchange(&mut parcels);
        parcels.pop().map_or(Vec::new(), |parcel| parcel.received)
    });
    for (rank, received) in received.iter().enumerate().skip(1) {
        assert_eq!(*received, vec![rank as f64 - 1.0; rank]);
    }
}

#[test]
fn values_are_gathered_in_the_order_of_ranks_however_many_each_has() {
    let all = on(4, |rank| {
        let own = vec![rank.rank() as f64; (rank.rank() * 2) % 3];
        let mut flat = vec![0.0; 4];
        rank.gather(&own, &[0, 2, 1, 0][..], &mut flat[..3]);
        (rank.gather_all(&own), flat)
    });
    let expected = vec![vec![], vec![1.0; 2], vec![2.0], vec![]];
    assert!(all.iter().all(|(all, flat)| *all == expected && flat[..3] == [1.0, 1.0, 2.0]));
}

#[test]
fn a_rank_that_fails_ends_all_with_its_message() {
    for panics in [false, true] {
        let failure = Threads::run(4, |rank| {
            for round in 0..100 {
                if rank.rank() == 2 && round == 20 {
                    assert!(!panics, "no more memory");
                    return Err("no more memory".to_string());
                }
                rank.sum(&mut [1.0]);

                // The others wait in a ring, where each knows of two.
                let near = |step: usize| (rank.rank() + step) % 4;
                let parcel = |other| Parcel { rank: other, sent: vec![1.0], received: vec![0.0] };
                rank.exchange(&mut [parcel(near(1)), parcel(near(3))]);
                rank.check().map_err(|error| error.to_string())?;
            }
            Ok(())
        })
        .unwrap_err();

        assert_eq!(failure.to_string(), "rank 2: no more memory");
        assert_eq!(matches!(failure.cause, Cause::Panic(_)), panics);
    }
}

#[test]
fn the_others_learn_why() {
    let heard = on(3, |rank| {
        if rank.rank() == 1 {
            rank.fail("the device is gone");
        }
        rank.gather(&[1.0], &[1; 3], &mut [0.0; 3]);
        rank.check().unwrap_err().message
    });
    assert!(heard.iter().all(|message| message == "rank 1: the device is gone"), "{heard:?}");
}

#[test]
fn a_rank_that_ends_early_is_missed() {
    let failure = Threads::run(3, |rank| {
        if rank.rank() == 0 {
            return Ok(());
        }
        rank.sum(&mut [1.0]);
        rank.sum(&mut [1.0]);
        rank.check().map_err(|error| error.message)
    });
    assert!(failure.unwrap_err().to_string().contains("rank 0 ended before the others"));
}
