//! Days, as bundles write them.

use core::fmt;

/// A day of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    /// The year, of four digits.
    pub year: u16,
    /// The month, 1 to 12.
    pub month: u8,
    /// The day of the month, from 1.
    pub day: u8,
}

impl Date {
    /// Returns the day of a text `YYYY-MM-DD`, nothing when the calendar has no such day.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let shape = bytes.len() == 10
            && bytes.iter().enumerate().all(|(index, byte)| match index {
                4 | 7 => *byte == b'-',
                _digit => byte.is_ascii_digit(),
            });
        if !shape {
            return None;
        }
        let (year, rest) = text.split_once('-')?;
        let (month, day) = rest.split_once('-')?;
        let date = Self {
            year: year.parse().ok()?,
            month: month.parse().ok()?,
            day: day.parse().ok()?,
        };
        (date.day >= 1 && date.day <= date.days_of_month()).then_some(date)
    }

    const fn days_of_month(self) -> u8 {
        let is_leap = self.year.is_multiple_of(4) && (!self.year.is_multiple_of(100) || self.year.is_multiple_of(400));
        match self.month {
            1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
            4 | 6 | 9 | 11 => 30,
            2 if is_leap => 29,
            2 => 28,
            _none => 0,
        }
    }
}

impl fmt::Display for Date {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_days_of_the_calendar() {
        for day in ["2024-02-29", "2026-12-31", "2000-02-29"] {
            assert_eq!(Date::parse(day).map(|day| day.to_string()).as_deref(), Some(day));
        }
        for text in [
            "2026-02-29",
            "1900-02-29",
            "2026-13-01",
            "2026-00-01",
            "2026-01-00",
            "2026-04-31",
            "26-01-01",
            "2026-1-01",
        ] {
            assert_eq!(Date::parse(text), None, "{text}");
        }
    }
}
