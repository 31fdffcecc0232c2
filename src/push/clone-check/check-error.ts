/** What keeps a folder from being checked. */
export class CheckError extends Error {}
