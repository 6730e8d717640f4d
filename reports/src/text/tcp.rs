//! What TCP did in the run's network namespace, from the kernel's counters beside the probes.

use super::{
    page::Page,
    style::{Style, Tone},
    tcp_connects, tcp_lives,
};
use crate::{
    recording::Tcp,
    units::{count, signed},
};

const PROBE_OFF: &str = "the probe is off";

pub(super) fn write(page: &mut Page, tcp: Option<&Tcp>, style: &Style) {
    let Some(tcp) = tcp else {
        page.heading("TCP");
        page.line(Tone::Plain, "  not recorded");
        return;
    };
    page.heading(&format!("TCP  everything in network namespace {}, not only the traced processes", tcp.netns));
    connections(page, tcp);
    retransmits(page, tcp);
    listeners(page, tcp);
    time_wait(page, tcp);
    page.fact(Tone::Plain, "resets sent", &signed(tcp.counter("Tcp.OutRsts")), "Tcp.OutRsts");
    tcp_connects::write(page, tcp, style);
    tcp_lives::write(page, tcp, style);
}

fn connections(page: &mut Page, tcp: &Tcp) {
    page.fact(Tone::Plain, "connections opened", &signed(tcp.counter("Tcp.ActiveOpens")), "connect(), Tcp.ActiveOpens");
    page.fact(Tone::Plain, "connections accepted", &signed(tcp.counter("Tcp.PassiveOpens")), "Tcp.PassiveOpens");
    match tcp.closed() {
        Some(closed) => {
            page.fact(Tone::Plain, "connection ends closed", &count(closed), "both ends count where both are here");
        }
        None => page.fact(Tone::Plain, "connection ends closed", "-", PROBE_OFF),
    }
}

fn retransmits(page: &mut Page, tcp: &Tcp) {
    let syn = tcp.counter("TcpExt.TCPSynRetrans");
    let split = match tcp.retransmits {
        Some(seen) => {
            format!("TcpExt.TCPSynRetrans; by the probes {} SYN + {} SYN-ACK", count(seen.syn), count(seen.syn_ack))
        }
        None => format!("TcpExt.TCPSynRetrans, SYN and SYN-ACK together: {PROBE_OFF}"),
    };
    page.fact(alarm_if(syn), "SYN retransmits", &signed(syn), &split);
    let all = tcp.counter("Tcp.RetransSegs");
    match tcp.retransmits {
        Some(seen) => {
            let probes = seen.tail_loss_probes.filter(|&n| n > 0);
            let probes = probes.map(|n| format!("; tail-loss probes, some of them among these: {}", count(n)));
            let remark = format!("by the probe{}", probes.unwrap_or_default());
            page.fact(Tone::Plain, "data retransmits", &count(seen.data), &remark);
        }
        // RetransSegs counts SYNs sent again too (v6.18 __tcp_retransmit_skb).
        None => {
            page.fact(Tone::Plain, "data retransmits", "-", &format!("{PROBE_OFF}; Tcp.RetransSegs {}", signed(all)));
        }
    }
}

fn listeners(page: &mut Page, tcp: &Tcp) {
    let (overflows, drops) = (tcp.counter("TcpExt.ListenOverflows"), tcp.counter("TcpExt.ListenDrops"));
    page.fact(alarm_if(overflows), "listen overflows", &signed(overflows), "TcpExt.ListenOverflows: accept queue full");
    page.fact(alarm_if(drops), "listen drops", &signed(drops), "TcpExt.ListenDrops: for any reason");
    for (name, label, remark) in [
        ("TcpExt.TCPReqQFullDrop", "  SYN queue full", "TcpExt.TCPReqQFullDrop: among them"),
        ("TcpExt.TCPReqQFullDoCookies", "SYN queue full, cookie", "TcpExt.TCPReqQFullDoCookies: not dropped"),
    ] {
        let moved = tcp.counter(name);
        if moved != 0 {
            page.fact(Tone::Alarm, label, &signed(moved), remark);
        }
    }
}

fn time_wait(page: &mut Page, tcp: &Tcp) {
    let created = tcp.time_wait_created();
    let (before, after) = tcp.time_wait;
    let detail =
        format!("TcpExt.TW + TWKilled, counted when each is made; {} before, {} after", count(before), count(after));
    page.fact(Tone::Plain, "TIME_WAIT created", &signed(created.confirmed), &detail);
    match (created.candidates, created.unexplained()) {
        (Some(candidates), Some(unexplained)) => {
            page.fact(
                Tone::Plain,
                "  seen by the probe",
                &count(candidates),
                "FIN_WAIT2 or CLOSING to CLOSE: candidates",
            );
            let why = if unexplained == 0 {
                ""
            } else {
                "orphans in FIN_WAIT2, data after close, or closes during a reading"
            };
            page.fact(Tone::Plain, "  unexplained difference", &signed(unexplained), why);
        }
        _ => page.fact(Tone::Plain, "  seen by the probe", "-", PROBE_OFF),
    }
    if created.skipped != 0 {
        page.fact(Tone::Alarm, "TIME_WAIT skipped", &signed(created.skipped), "tcp_max_tw_buckets reached");
    }
}

fn alarm_if(number: i64) -> Tone {
    if number > 0 { Tone::Alarm } else { Tone::Plain }
}
