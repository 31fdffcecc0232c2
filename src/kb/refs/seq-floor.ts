/** File on the queue ref with the number that seqIds must exceed, whatever main has. */
export const seqFloorPath = 'seq-floor'

export function formatSeqFloor(floor: number): string {
  return `${floor}\n`
}

/** Undefined if the text is not a floor. */
export function parseSeqFloor(text: string): number | undefined {
  return /^[0-9]{1,8}\n?$/.test(text) ? Number(text) : undefined
}
