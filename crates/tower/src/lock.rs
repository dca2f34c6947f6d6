//! The per-spec lock (architecture §6, "Lock"; laws L2 and L6).
//!
//! A lock is a directory holding an `owner` file, published by a rename that replaces nothing, so that the
//! reference's `mkdir` and ours exclude each other. While a process holds it, it also holds the kernel's window lock:
//! who can take that knows that the owner is dead, whatever its age.

use std::marker::PhantomData;

use orchestrate_core::identifier::{Nonce, SpecId};
use orchestrate_core::observed::{Observed, Why};
use orchestrate_core::place::{LockDirectory, Place};
use orchestrate_core::process::Liveness;
use orchestrate_core::record::lock_owner::{LockKind, LockOwner};
use orchestrate_core::time::Timestamp;
use orchestrate_core::world::{Fault, Race, Reading, World};

/// How often the lock is looked at again when it changes while we look.
const ATTEMPTS: usize = 4;
/// How often a release is tried: more often, since giving up leaves a lock behind.
const RELEASE_ATTEMPTS: usize = 12;

/// Proof that this tower holds the lock of a bundle. `'window` cannot leave the closure it was made for.
pub struct Held<'window> {
    spec: SpecId,
    window: PhantomData<fn(&'window ()) -> &'window ()>,
}

impl Held<'_> {
    /// Returns the bundle whose lock is held.
    #[must_use]
    pub fn spec(&self) -> &SpecId {
        &self.spec
    }
}

/// Why the body did not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LockRefusal {
    /// Somebody else holds the lock, or may.
    Busy(Why),
    /// The lock could not be asked for.
    Fault(Fault),
}

impl From<Fault> for LockRefusal {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// The result of the body, and how the release went.
#[derive(Debug)]
#[must_use = "a lock that could not be released must not be worked under"]
pub struct Released<T> {
    /// What the body returned.
    pub value: T,
    /// Why the lock could not be released, if it could not. It is free when this process has ended.
    pub kept: Option<Fault>,
}

/// Runs the body while holding the lock, and releases it afterwards, whatever the body returns.
///
/// # Errors
/// When somebody else holds the lock, or it could not be asked for.
pub fn with<T>(
    world: &mut dyn World,
    spec: &SpecId,
    stale_lock_minutes: i64,
    body: impl for<'window> FnOnce(&mut dyn World, Held<'window>) -> T,
) -> Result<Released<T>, LockRefusal> {
    if world.enter_window(spec)? == Race::Lost {
        let why = Why::new(format!(
            "another tower on this machine is in the dispatch window of specs/{spec}"
        ))
        .with_hint("it lasts a moment; step again");
        return Err(LockRefusal::Busy(why));
    }
    let result = acquire(world, spec, LockKind::Process, stale_lock_minutes).map(|nonce| {
        let value = body(
            world,
            Held {
                spec: spec.clone(),
                window: PhantomData,
            },
        );
        let kept = release(world, spec, &nonce).err();
        Released { value, kept }
    });
    world.leave_window(spec);
    result
}

/// Runs the body while no tower is in the bundle's window, without the lock: for acts that the reference's scripts do
/// without it, or while they hold it.
///
/// # Errors
/// When a tower is in the window, or that could not be asked for.
pub fn beside<T>(
    world: &mut dyn World,
    spec: &SpecId,
    body: impl FnOnce(&mut dyn World) -> T,
) -> Result<T, LockRefusal> {
    if world.enter_window(spec)? == Race::Lost {
        return Err(LockRefusal::Busy(Why::new("a tower is in the dispatch window")));
    }
    let here = world.identity().host;
    // The window lock reaches one machine only; what stays of a killed tower of this one keeps nobody out.
    let result = match look(world, spec) {
        Seen::Lock {
            owner: Owner::Ours(owner),
            ..
        } if owner.kind == LockKind::Process && owner.process.host != here => {
            Err(LockRefusal::Busy(Why::new(format!(
                "a tower on another machine is in the dispatch window: {}",
                owner.process
            ))))
        }
        Seen::Lock { .. } | Seen::Free | Seen::Strange(_) => Ok(body(world)),
    };
    world.leave_window(spec);
    result
}

/// Takes the lock and leaves it taken when the process ends: the plumbing verb `orchestrate-lock acquire`.
///
/// # Errors
/// As [`with`].
pub fn acquire_detached(world: &mut dyn World, spec: &SpecId, stale_lock_minutes: i64) -> Result<(), LockRefusal> {
    if world.enter_window(spec)? == Race::Lost {
        return Err(LockRefusal::Busy(Why::new("a tower is in the dispatch window")));
    }
    let result = acquire(world, spec, LockKind::Detached, stale_lock_minutes).map(|_| ());
    world.leave_window(spec);
    result
}

/// Releases a lock that no living process owns: the plumbing verb `orchestrate-lock release`. One that a process
/// holds is left alone, as is anything that is no lock of ours or the reference's (law L6), and a directory that holds
/// anything else (`contract/core.md §6.1`).
///
/// # Errors
/// When the lock cannot be removed.
pub fn release_detached(world: &mut dyn World, spec: &SpecId) -> Result<(), Fault> {
    match look(world, spec) {
        Seen::Lock {
            owner: Owner::Ours(owner),
            ..
        } if owner.kind == LockKind::Process => Ok(()),
        Seen::Lock { .. } if holds_more(world, &LockDirectory::Published(spec.clone())) => Ok(()),
        Seen::Lock { owner, modified } => move_aside_and_remove(world, spec, &Expected { owner, modified }).map(|_| ()),
        Seen::Free | Seen::Strange(_) => Ok(()),
    }
}

/// How the lock of a bundle stands, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// Nobody has it.
    Free,
    /// Something stands there that is no lock.
    Strange(&'static str),
    /// Somebody has it, or had.
    Taken(Taken),
}

/// A lock that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// Who took it, as far as it says; nothing for the reference's, which leaves no name.
    pub owner: Option<LockOwner>,
    /// Whether that process lives; absent where none is named.
    pub liveness: Observed<Liveness>,
    /// Since when.
    pub since: Timestamp,
    /// Why the next tower leaves it alone; nothing where that one breaks it.
    pub kept: Option<Why>,
}

/// Looks at the lock of a bundle and changes nothing.
pub fn inspect(world: &dyn World, spec: &SpecId, stale_lock_minutes: i64) -> Standing {
    let (owner, modified) = match look(world, spec) {
        Seen::Free => return Standing::Free,
        Seen::Strange(what) => return Standing::Strange(what),
        Seen::Lock { owner, modified } => (owner, modified),
    };
    let named = match &owner {
        Owner::Ours(owner) => Some(owner.clone()),
        Owner::Bare | Owner::Unknown(_) => None,
    };
    let liveness = match (&named, &owner) {
        (Some(named), _) => world.liveness(&named.process),
        (None, Owner::Unknown(why)) => Observed::Unknown(Why::new(why.clone())),
        (None, Owner::Ours(_) | Owner::Bare) => Observed::Absent(Why::new("it names no process")),
    };
    let is_of_a_process = named
        .as_ref()
        .is_some_and(|named| named.kind == LockKind::Process && named.process.host == world.identity().host);
    let kept = match (&liveness, &named) {
        // Who breaks it holds the window's lock, which a living owner would hold.
        (Observed::Known(Liveness::Dead), _) if is_of_a_process => None,
        (Observed::Known(Liveness::Alive), Some(named)) if is_of_a_process => {
            Some(Why::new(format!("its tower, {}, lives", named.process)))
        }
        (Observed::Unknown(why), Some(_)) if is_of_a_process => Some(why.clone()),
        (_, _) => still_held(world, spec, &owner, modified, stale_lock_minutes),
    };
    Standing::Taken(Taken {
        owner: named,
        liveness,
        since: modified,
        kept,
    })
}

/// Who a lock says it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Owner {
    /// A record of ours.
    Ours(LockOwner),
    /// None, or one that says nothing: the reference's bare directory.
    Bare,
    /// It could not be looked at.
    Unknown(String),
}

enum Seen {
    Free,
    Lock { owner: Owner, modified: Timestamp },
    Strange(&'static str),
}

fn look(world: &dyn World, spec: &SpecId) -> Seen {
    match world.read(&Place::Lock(spec.clone())) {
        Reading::Absent => Seen::Free,
        Reading::Directory { modified } => Seen::Lock {
            owner: owner_of(world, &LockDirectory::Published(spec.clone())),
            modified,
        },
        Reading::Symlink => Seen::Strange("a symbolic link stands there, as later versions of the reference make"),
        Reading::File { .. } => Seen::Strange("a file stands there"),
        Reading::Special => Seen::Strange("something that is no directory stands there"),
        Reading::Unreadable(_) => Seen::Strange("it cannot be looked at"),
    }
}

fn owner_of(world: &dyn World, directory: &LockDirectory) -> Owner {
    match world.read(&directory.owner()) {
        Reading::File { bytes, .. } => LockOwner::parse(&bytes).map_or(Owner::Bare, Owner::Ours),
        Reading::Absent | Reading::Directory { .. } | Reading::Symlink | Reading::Special => Owner::Bare,
        Reading::Unreadable(why) => Owner::Unknown(why),
    }
}

/// Returns whether a lock's directory holds, or may hold, anything but its owner: then it is not ours to empty.
fn holds_more(world: &dyn World, directory: &LockDirectory) -> bool {
    match world.list(&directory.place()) {
        Observed::Known(names) => names.iter().any(|name| name != "owner"),
        Observed::Absent(_) => false,
        Observed::Unknown(_) => true,
    }
}

/// Takes the lock. The caller holds the window lock.
fn acquire(
    world: &mut dyn World,
    spec: &SpecId,
    kind: LockKind,
    stale_lock_minutes: i64,
) -> Result<Nonce, LockRefusal> {
    let nonce = world.nonce()?;
    let owner = LockOwner::new(kind, world.identity(), nonce.clone());
    for _ in 0..ATTEMPTS {
        match look(world, spec) {
            Seen::Free => {
                if publish(world, spec, &owner)? == Race::Won {
                    return Ok(nonce);
                }
            }
            Seen::Strange(what) => {
                let why = Why::new(format!("specs/{spec}/.orchestrate.lock is taken: {what}"));
                return Err(LockRefusal::Busy(why.with_hint(
                    "look at it; remove it if nobody works on the bundle (orchestrate doctor names the command)",
                )));
            }
            Seen::Lock { owner, modified } => {
                if let Some(why) = still_held(world, spec, &owner, modified, stale_lock_minutes) {
                    return Err(LockRefusal::Busy(why));
                }
                if move_aside_and_remove(world, spec, &Expected { owner, modified })? == Race::Lost {
                    return Err(LockRefusal::Busy(Why::new(
                        "the lock changed hands while it was broken",
                    )));
                }
            }
        }
    }
    Err(LockRefusal::Busy(Why::new(
        "other towers take the lock again and again",
    )))
}

/// Returns why a lock must be taken for held, nothing when there is evidence that it is not.
fn still_held(
    world: &dyn World,
    spec: &SpecId,
    owner: &Owner,
    modified: Timestamp,
    stale_lock_minutes: i64,
) -> Option<Why> {
    let holder = match owner {
        // We hold the window lock, which a living owner on this machine would hold.
        Owner::Ours(owner) if owner.kind == LockKind::Process && owner.process.host == world.identity().host => {
            return None;
        }
        Owner::Ours(owner) => format!("{}", owner.process),
        Owner::Bare => "a tower that leaves no name".to_owned(),
        Owner::Unknown(why) => {
            return Some(Why::new(format!(
                "the owner of the lock of specs/{spec} cannot be read: {why}"
            )));
        }
    };
    let age = world.now().seconds_since(modified);
    if age < 0 {
        let why = Why::new(format!("the lock of {holder} lies in the future"));
        return Some(why.with_hint(format!(
            "check the clock; remove specs/{spec}/.orchestrate.lock if nobody holds it"
        )));
    }
    (age / 60 <= stale_lock_minutes).then(|| {
        Why::new(format!(
            "specs/{spec} is locked by {holder}, since {}",
            modified.age_at(world.now())
        ))
        .with_hint(format!("it counts as stale after {stale_lock_minutes} min"))
    })
}

fn publish(world: &mut dyn World, spec: &SpecId, owner: &LockOwner) -> Result<Race, Fault> {
    let staging = LockDirectory::Staging(spec.clone(), owner.nonce.clone());
    world.create_directory(&staging.place())?;
    let published = world
        .write(&staging.owner(), &owner.render())
        .and_then(|()| world.publish(&staging.place(), &Place::Lock(spec.clone())));
    let race = match published {
        Ok(race) => race,
        // It may have happened all the same: what stands there decides.
        Err(_) if is_owned_by(world, spec, &owner.nonce) => Race::Won,
        Err(fault) => {
            // The fault is what the user has to know; a staging directory that stays is no lock.
            let _ = world.remove(&staging.place());
            return Err(fault);
        }
    };
    if race == Race::Lost {
        world.remove(&staging.place())?;
    }
    Ok(race)
}

fn is_owned_by(world: &dyn World, spec: &SpecId, nonce: &Nonce) -> bool {
    matches!(look(world, spec), Seen::Lock { owner: Owner::Ours(owner), .. } if owner.nonce == *nonce)
}

/// Releases the lock if it still is ours. A look or a move that fails is tried again: a lock left behind would keep
/// every other machine's tower out until it is stale.
fn release(world: &mut dyn World, spec: &SpecId, nonce: &Nonce) -> Result<(), Fault> {
    let mut last = None;
    for _ in 0..RELEASE_ATTEMPTS {
        match look(world, spec) {
            Seen::Free => return Ok(()),
            Seen::Lock {
                owner: Owner::Ours(owner),
                ..
            } if owner.nonce != *nonce => break,
            Seen::Lock { owner, modified } => {
                let is_ours = matches!(owner, Owner::Ours(_));
                if is_ours {
                    match move_aside_and_remove(world, spec, &Expected { owner, modified }) {
                        Ok(Race::Won) => return Ok(()),
                        Ok(Race::Lost) => {}
                        Err(fault) => last = Some(fault),
                    }
                }
            }
            Seen::Strange(_) => {}
        }
    }
    Err(last.unwrap_or_else(|| {
        Fault::new(
            format!("cannot release specs/{spec}/.orchestrate.lock"),
            "it is no longer this tower's, or cannot be read",
        )
    }))
}

/// What the lock was when it was decided to remove it.
struct Expected {
    owner: Owner,
    modified: Timestamp,
}

/// Removes the lock that was seen, and no other: it is moved aside first, looked at, and put back if it is another.
fn move_aside_and_remove(world: &mut dyn World, spec: &SpecId, expected: &Expected) -> Result<Race, Fault> {
    let nonce = world.nonce()?;
    let aside = LockDirectory::Aside(spec.clone(), nonce);
    if let Err(fault) = world.publish(&Place::Lock(spec.clone()), &aside.place()) {
        match world.read(&aside.place()) {
            Reading::Directory { .. } => {}
            Reading::Absent => {
                return if matches!(look(world, spec), Seen::Free) {
                    Ok(Race::Won)
                } else {
                    Err(fault)
                };
            }
            Reading::File { .. } | Reading::Symlink | Reading::Special | Reading::Unreadable(_) => return Err(fault),
        }
    }
    let modified = match world.read(&aside.place()) {
        Reading::Directory { modified } => Some(modified),
        Reading::Absent | Reading::File { .. } | Reading::Symlink | Reading::Special | Reading::Unreadable(_) => None,
    };
    let same_owner = owner_of(world, &aside) == expected.owner;
    let is_the_one = match expected.owner {
        Owner::Ours(_) => same_owner,
        Owner::Bare => same_owner && modified == Some(expected.modified),
        Owner::Unknown(_) => false,
    };
    if !is_the_one {
        return match world.publish(&aside.place(), &Place::Lock(spec.clone()))? {
            Race::Won => Ok(Race::Lost),
            Race::Lost => Err(Fault::new(
                format!("cannot put back the lock of specs/{spec}"),
                "somebody took it while it was looked at",
            )),
        };
    }
    match world.remove(&aside.place()) {
        Ok(()) => Ok(Race::Won),
        // It is out of the way, and what somebody put into it stays there (law L5).
        Err(_) if holds_more(world, &aside) => Ok(Race::Won),
        Err(fault) => Err(fault),
    }
}
