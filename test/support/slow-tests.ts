/** Whether tests that take long run: they do, unless `BRAIN_TEST_SLOW=0` leaves them out. */
export const runsSlowTests = process.env['BRAIN_TEST_SLOW'] !== '0';

/** Whether what is counted is counted in full, for minutes: only where `BRAIN_TEST_SLOW=1` asks for it. */
export const runsLongForms = process.env['BRAIN_TEST_SLOW'] === '1';
