/** Whether tests that take long run: they do, unless `BRAIN_TEST_SLOW=0` leaves them out. */
export const runsSlowTests = process.env['BRAIN_TEST_SLOW'] !== '0';
