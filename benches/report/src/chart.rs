//! Charts as inline SVG. Words stand beside the drawings as text of the page, so that they keep
//! their size however wide it is; only what is drawn is stretched.

use std::fmt::Write;

use super::format::{escape, plain};

/// What is drawn in a row.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// From the axis to there, and what lies around it.
    Bar { to: f64, around: Option<(f64, f64)> },
    /// Most lies between `low` and `high`, half of it below `middle`, all of it below `most`.
    Spread {
        low: f64,
        middle: f64,
        high: f64,
        most: f64,
    },
}

/// One row.
#[derive(Debug, Clone)]
pub struct Row {
    pub label: String,
    pub detail: String,
    /// `strategy`, `baseline` or `rival`.
    pub kind: String,
    pub shape: Option<Shape>,
    /// Where the figure is that stands behind it, and how it is shown.
    pub figure: (String, String),
}

/// From where to where, and what is marked.
#[derive(Debug, Clone)]
pub struct Axis {
    low: f64,
    high: f64,
    log: bool,
    ticks: Vec<(f64, String)>,
    marks: Vec<f64>,
}

impl Axis {
    /// Beginning at 0, with ticks at round numbers.
    pub fn linear(high: f64, show: impl Fn(f64) -> String) -> Axis {
        let step = step(high / 4.0);
        let ticks = (0..=5).map(|at| f64::from(at) * step);
        let ticks = ticks
            .filter(|&at| at <= high * 1.02)
            .map(|at| (at, show(at)));
        Axis {
            low: 0.0,
            high: high * 1.04,
            log: false,
            ticks: ticks.collect(),
            marks: Vec::new(),
        }
    }

    /// From one power of ten to another.
    pub fn log(low: f64, high: f64, show: impl Fn(f64) -> String) -> Axis {
        let (first, last) = (
            low.log10().floor(),
            high.log10().ceil().max(low.log10().floor() + 1.0),
        );
        let mut ticks = Vec::new();
        let mut power = first;
        while power <= last {
            ticks.push((10_f64.powf(power), show(10_f64.powf(power))));
            power += 1.0;
        }
        if ticks.len() > 6 {
            ticks = ticks.into_iter().step_by(2).collect();
        }
        Axis {
            low: 10_f64.powf(first),
            high: 10_f64.powf(last),
            log: true,
            ticks,
            marks: Vec::new(),
        }
    }

    pub fn mark(mut self, at: f64) -> Axis {
        self.marks.push(at);
        self
    }

    /// Where on the way from 0 to 100 that is.
    fn place(&self, at: f64) -> f64 {
        let at = at.clamp(self.low, self.high);
        let share = if self.log {
            (at / self.low).log10() / (self.high / self.low).log10()
        } else {
            (at - self.low) / (self.high - self.low)
        };
        share * 100.0
    }
}

/// A round number that is not less.
fn step(number: f64) -> f64 {
    let power = 10_f64.powf(number.log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0].map(|factor| factor * power);
    steps
        .into_iter()
        .find(|step| *step >= number)
        .unwrap_or(number)
}

/// A chart of rows.
pub fn rows(rows: &[Row], axis: &Axis) -> String {
    let mut html = String::from("<div class=\"rows\">");
    for row in rows {
        let drawing = row
            .shape
            .map_or_else(String::new, |shape| draw(shape, axis));
        let (path, text) = &row.figure;
        let _ = write!(
            html,
            "<div class=\"row {}\"><div class=\"label\">{} <small>{}</small></div>\
             <svg viewBox=\"0 0 100 20\" preserveAspectRatio=\"none\" aria-hidden=\"true\">{}{}</svg>\
             <div class=\"figure\" data-f=\"{}\">{}</div></div>",
            row.kind,
            escape(&row.label),
            escape(&row.detail),
            grid(axis),
            drawing,
            escape(path),
            escape(text)
        );
    }
    html + &scale(axis) + "</div>"
}

fn grid(axis: &Axis) -> String {
    let line = |class: &str, at: f64| {
        let x = axis.place(at);
        format!("<line class=\"{class}\" x1=\"{x:.2}\" x2=\"{x:.2}\" y1=\"0\" y2=\"20\"/>")
    };
    let ticks = axis.ticks.iter().map(|(at, _)| line("grid", *at));
    let marks = axis.marks.iter().map(|at| line("mark", *at));
    ticks.chain(marks).collect()
}

fn draw(shape: Shape, axis: &Axis) -> String {
    let bar = |class: &str, from: f64, to: f64, y: u32, height: u32| {
        let (from, to) = (axis.place(from), axis.place(to));
        let width = (to - from).max(0.4);
        format!(
            "<rect class=\"{class}\" x=\"{from:.2}\" y=\"{y}\" width=\"{width:.2}\" height=\"{height}\"/>"
        )
    };
    match shape {
        Shape::Bar { to, around } => {
            let around = around.map(|(low, high)| bar("around", low, high, 9, 2));
            bar("bar", axis.low, to, 4, 12) + &around.unwrap_or_default()
        }
        Shape::Spread {
            low,
            middle,
            high,
            most,
        } => {
            let middle_at = axis.place(middle);
            bar("thin", high, most, 9, 2)
                + &bar("bar", low, high, 4, 12)
                + &format!(
                    "<rect class=\"middle\" x=\"{:.2}\" y=\"2\" width=\"0.9\" height=\"16\"/>",
                    (middle_at - 0.45).max(0.0)
                )
        }
    }
}

fn scale(axis: &Axis) -> String {
    let tick = |(at, text): &(f64, String)| {
        let place = axis.place(*at);
        let side = if place > 95.0 { " class=\"last\"" } else { "" };
        format!(
            "<span{side} style=\"left:{place:.2}%\">{}</span>",
            escape(text)
        )
    };
    let ticks: String = axis.ticks.iter().map(tick).collect();
    format!(
        "<div class=\"row\"><div class=\"label\"></div><div class=\"scale\">{ticks}</div><div></div></div>"
    )
}

/// One line of a chart of lines.
#[derive(Debug, Clone)]
pub struct Line {
    pub label: String,
    pub points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 230.0;
const LEFT: f64 = 54.0;
const RIGHT: f64 = 10.0;
const TOP: f64 = 24.0;
const BOTTOM: f64 = 38.0;

/// A chart of lines over a growing number, both axes by powers.
pub fn lines(lines: &[Line], unit: &str, what: &str) -> String {
    let points = || lines.iter().flat_map(|line| &line.points);
    if points().next().is_none() {
        return String::new();
    }
    let most = |pick: fn(&(f64, f64)) -> f64| points().map(pick).fold(f64::MIN, f64::max);
    let least = |pick: fn(&(f64, f64)) -> f64| points().map(pick).fold(f64::MAX, f64::min);
    let up = Axis::log(
        least(|point| point.1).max(1e-3),
        most(|point| point.1),
        plain,
    );
    let along = (least(|point| point.0), most(|point| point.0));
    let x = |at: f64| {
        let share = (at / along.0).ln() / (along.1 / along.0).ln().max(1e-9);
        LEFT + share * (WIDTH - LEFT - RIGHT)
    };
    let y = |at: f64| HEIGHT - BOTTOM - up.place(at) / 100.0 * (HEIGHT - TOP - BOTTOM);
    let mut svg = format!(
        "<svg class=\"lines\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}, {}\">\
         <text class=\"unit\" x=\"4\" y=\"13\">{}</text>",
        escape(unit),
        escape(what),
        escape(unit)
    );
    for (at, text) in &up.ticks {
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
             <text text-anchor=\"end\" x=\"{}\" y=\"{:.1}\">{text}</text>",
            WIDTH - RIGHT,
            LEFT - 5.0,
            y(*at) + 4.0,
            y = y(*at),
        );
    }
    let mut places: Vec<f64> = points().map(|point| point.0).collect();
    places.sort_unstable_by(f64::total_cmp);
    places.dedup();
    for at in places {
        let _ = write!(
            svg,
            "<text text-anchor=\"middle\" x=\"{:.1}\" y=\"{}\">{}</text>",
            x(at).min(WIDTH - RIGHT - 8.0),
            HEIGHT - BOTTOM + 15.0,
            plain(at)
        );
    }
    let _ = write!(
        svg,
        "<text text-anchor=\"middle\" x=\"{}\" y=\"{}\">{}</text>",
        f64::midpoint(WIDTH, LEFT),
        HEIGHT - 6.0,
        escape(what)
    );
    for (number, line) in lines.iter().enumerate() {
        let points = line.points.iter();
        let points: Vec<_> = points.map(|&(at, value)| (x(at), y(value))).collect();
        let path: Vec<_> = points
            .iter()
            .map(|(x, y)| format!("{x:.1},{y:.1}"))
            .collect();
        let _ = write!(
            svg,
            "<g class=\"s{}\"><polyline points=\"{}\"/>",
            number % COLORS,
            path.join(" ")
        );
        for (x, y) in points {
            svg += &dot(number, x, y);
        }
        svg += "</g>";
    }
    svg + "</svg>"
}

/// How many colors there are for lines.
const COLORS: usize = 8;

/// A dot whose form tells lines apart where colors do not.
fn dot(number: usize, x: f64, y: f64) -> String {
    match number % 3 {
        0 => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"/>"),
        1 => format!(
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"5.6\" height=\"5.6\"/>",
            x - 2.8,
            y - 2.8
        ),
        _ => format!("<path d=\"M{x:.1} {:.1}l3.6 6.4h-7.2z\"/>", y - 3.8),
    }
}

/// Which line is which.
pub fn legend(lines: &[Line]) -> String {
    let entry = |(number, line): (usize, &Line)| {
        format!(
            "<li class=\"s{}\"><svg viewBox=\"0 0 12 12\" aria-hidden=\"true\">{}</svg>{}</li>",
            number % COLORS,
            dot(number, 6.0, 6.0),
            escape(&line.label)
        )
    };
    let entries: String = lines.iter().enumerate().map(entry).collect();
    format!("<ul class=\"legend\">{entries}</ul>")
}
