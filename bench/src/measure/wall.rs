//! Time, as a share of what others take in the same process.
//!
//! Everybody gets short slices in turn, in another order each round, so that whatever else the
//! machine does meets all alike. The first one takes part twice: if it does not come out as fast as
//! itself, the run says nothing.

use std::time::{Duration, Instant};

use super::{Measured, Run};

/// What slices of a comparison took each time, in nanoseconds.
pub(crate) struct Compared {
    /// In the order of the runs; the second of the first run's last.
    slices: Vec<Vec<f64>>,
}

impl Compared {
    /// How long the run takes where nothing disturbs it: at the tenth part of its slices.
    pub(crate) fn nanoseconds(&self, run: usize) -> f64 {
        at(&self.slices[run], 0.1)
    }

    /// How much longer the first run takes than another.
    pub(crate) fn share_of(&self, run: usize) -> f64 {
        self.nanoseconds(0) / self.nanoseconds(run)
    }

    /// How far the first run is from itself, as a part of what it takes.
    pub(crate) fn noise(&self) -> f64 {
        (self.share_of(self.slices.len() - 1) - 1.0).abs()
    }

    /// Notes the share of each run that has a name, or that the machine was too noisy to tell.
    pub(crate) fn note(&self, measured: &mut Measured, names: &[&str]) {
        for (run, name) in (1..).zip(names) {
            measured.note(name, "noise", self.noise());
            measured.note(name, "times as long", self.share_of(run));
            measured.note(name, "nanoseconds", self.nanoseconds(0));
            measured.note(name, "nanoseconds beside", self.nanoseconds(run));
        }
    }
}

/// Compares the first run, of which there are two, with the others.
pub(crate) fn compare(first: [Run; 2], others: Vec<Run>) -> Compared {
    let [first, again] = first;
    let mut runs: Vec<Run> = [first].into_iter().chain(others).chain([again]).collect();
    let times: Vec<u32> = runs.iter_mut().map(fitting).collect();
    let mut slices = vec![Vec::with_capacity(ROUNDS); runs.len()];
    for round in 0..ROUNDS {
        for place in 0..runs.len() {
            let run = (place + round) % runs.len();
            let began = Instant::now();
            runs[run](times[run]);
            let took = began.elapsed().as_secs_f64() * 1e9;
            slices[run].push(took / f64::from(times[run]));
        }
    }
    for slices in &mut slices {
        slices.sort_by(f64::total_cmp);
    }
    Compared { slices }
}

/// How often a run fits into a slice.
fn fitting(run: &mut Run) -> u32 {
    let mut times = 1;
    loop {
        let began = Instant::now();
        run(times);
        if began.elapsed() >= SLICE || times >= MOST_TIMES {
            return times;
        }
        times *= 2;
    }
}

/// The value that this part of the sorted values does not exceed.
pub(crate) fn at(sorted: &[f64], part: f64) -> f64 {
    let last = u32::try_from(sorted.len().saturating_sub(1)).unwrap_or(u32::MAX);
    let mut places = (0..=last).map(|place| (f64::from(place), place));
    let place = places.find(|(place, _)| *place >= part * f64::from(last));
    place.map_or(f64::NAN, |(_, place)| sorted[place as usize])
}

/// Above this the first run is too far from itself.
pub(crate) const NOISE: f64 = 0.03;

const ROUNDS: usize = 101;

const SLICE: Duration = Duration::from_micros(200);

const MOST_TIMES: u32 = 1 << 20;
