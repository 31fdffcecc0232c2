/** Thrown if a folder cannot be checked. */
export class CheckError extends Error {}
