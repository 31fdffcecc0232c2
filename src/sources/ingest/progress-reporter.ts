import type { IngestStage } from '../../contract/events.ts'

export type Progress = { stage: IngestStage; done: number; total: number }

/** Between two reports within a stage. */
const intervalMs = 1_000

/**
 * Passes on how far some work is: the begin of each stage, and from then on at most one report a second.
 * @param clock milliseconds of a clock that nobody sets.
 */
export function progressReporter(tell: (progress: Progress) => void, clock: () => number = () => performance.now()) {
  let at: { stage: IngestStage; told: number } | undefined
  return {
    begin: (stage: IngestStage): void => {
      at = { stage, told: clock() }
      tell({ stage, done: 0, total: 0 })
    },
    show: (done: number, total: number): void => {
      const now = clock()
      if (at === undefined || now - at.told < intervalMs) return
      at.told = now
      tell({ stage: at.stage, done, total })
    },
  }
}
