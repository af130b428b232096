/** Times as text, by arithmetic alone: RFC 3339, UTC, without a fraction. */

const DAY_MS = 86_400_000;

/** `2026-01-01T12:00:00Z` for epoch milliseconds. A fraction of a second is cut off. */
export function utcTime(epochMs: number): string {
  const days = Math.floor(epochMs / DAY_MS);
  const seconds = Math.floor((epochMs - days * DAY_MS) / 1000);
  const { year, month, day } = dateOf(days);
  const date = `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)}`;
  const time = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60].map((part) => padded(part, 2));
  return `${date}T${time.join(':')}Z`;
}

/** Epoch milliseconds of a time as `utcTime` writes it; null where the text is none, or names no moment of the calendar. */
export function parseUtcTime(text: string): number | null {
  const parts = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})Z$/.exec(text)?.slice(1).map(Number);
  if (parts === undefined) return null;
  const [year = 0, month = 0, day = 0, hours = 0, minutes = 0, seconds = 0] = parts;
  const epochMs = daysTo({ year, month, day }) * DAY_MS + ((hours * 60 + minutes) * 60 + seconds) * 1000;
  // A thirtieth of February comes back as a day in March.
  return utcTime(epochMs) === text ? epochMs : null;
}

/** The Gregorian date of a day counted from 1970-01-01. Years are counted from March, so that a leap day is the last. */
function dateOf(daysFromEpoch: number): { readonly year: number; readonly month: number; readonly day: number } {
  const days = daysFromEpoch + 719_468;
  const era = Math.floor(days / 146_097);
  const dayOfEra = days - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1,
  };
}

/** The other way: from 1970-01-01 to a date. */
function daysTo({ year, month, day }: { readonly year: number; readonly month: number; readonly day: number }): number {
  const yearFromMarch = month <= 2 ? year - 1 : year;
  const era = Math.floor(yearFromMarch / 400);
  const yearOfEra = yearFromMarch - era * 400;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  return era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719_468;
}

function padded(value: number, width: number): string {
  return String(value).padStart(width, '0');
}
