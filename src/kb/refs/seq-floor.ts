/** On the queue ref: the number that seqIds must stay above, whatever main shows. */
export const seqFloorPath = 'seq-floor'

export function formatSeqFloor(floor: number): string {
  return `${floor}\n`
}

/** Nothing where the text is no floor. */
export function parseSeqFloor(text: string): number | undefined {
  return /^[0-9]{1,8}\n?$/.test(text) ? Number(text) : undefined
}
