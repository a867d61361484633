//! `Member`: a machine of a fleet, from its own side.

use crate::key::{FleetKey, Trusted};
use crate::refusals::Tell;
use crate::server::NatsServer;

/// Where the server is, who we are, whose messages count, and how the operator hears of what goes wrong.
#[derive(Clone, Debug)]
pub struct Member {
    /// The server.
    pub server: NatsServer,
    /// Signs what we send.
    pub key: FleetKey,
    /// The coordinators that a worker works for, or the workers whose results a coordinator takes.
    pub trusted: Trusted,
    /// Lines for the operator.
    pub tell: Tell,
}
