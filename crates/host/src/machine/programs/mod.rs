//! Programs that cores execute.

mod answers;
mod forkbench;
mod memcopy;
mod message_reader;
mod mix;
mod receiver;
pub(super) mod recording;
mod steps;
mod tcp_receive;
mod trace_program;
mod work_steps;

pub use self::answers::{AnswerSettings, FileSettings};
pub use self::forkbench::Forkbench;
pub use self::memcopy::{BufferOperation, Memcopy, ReadAgain, SourceState};
pub use self::message_reader::{MessageReader, MessageReaderSettings};
pub use self::mix::MixProgram;
pub use self::receiver::{Receiver, ReceiverSettings};
pub use self::recording::{
    ChosenCopies, ContentsCounts, OtherByte, RECORDED_COPIER_MIN_BYTES, RecordedProgram, RecordingSettings,
};
pub use self::steps::{Program, Repeated, Steps, StepsAhead};
pub use self::tcp_receive::{BufferRing, GroupInstruction, ReceiveStep, ReceiveWork, ReceivedPackets, TcpReceive};
pub use self::trace_program::TraceProgram;
