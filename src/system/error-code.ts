/** True if an error has one of these codes, as Node's errors of system calls and zlib have. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}
