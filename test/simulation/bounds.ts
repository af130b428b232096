/** Bounds of the simulated server, so small that short histories meet them. */
export const QUEUE_MESSAGES_MAX = 2;
/** How many agent loops run at a time. */
export const RUNNING_TURNS_MAX = 2;
