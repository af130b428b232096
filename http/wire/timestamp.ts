/** RFC 3339 in UTC, without a fraction: `2026-01-01T12:00:00Z`. */
export function timestampOf(epochMs: number): string {
  const seconds = Math.floor(epochMs / 1000);
  const days = Math.floor(seconds / 86_400);
  const secondOfDay = seconds - days * 86_400;
  const { year, month, day } = civilDate(days);
  const time = [Math.floor(secondOfDay / 3600), Math.floor(secondOfDay / 60) % 60, secondOfDay % 60].map(twoDigits);
  return `${String(year).padStart(4, '0')}-${twoDigits(month)}-${twoDigits(day)}T${time.join(':')}Z`;
}

/**
 * The Gregorian date so many days after 1970-01-01. Counted in years that begin in March, so that the leap day is the
 * last day of its year, and in eras of 400 years, after which the calendar repeats.
 */
function civilDate(days: number): { readonly year: number; readonly month: number; readonly day: number } {
  const daysFromMarchOfYear0 = days + 719_468;
  const era = Math.floor(daysFromMarchOfYear0 / 146_097);
  const dayOfEra = daysFromMarchOfYear0 - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
