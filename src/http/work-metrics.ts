import { Histogram, type Registry } from 'prom-client'
import { type ObservedWork, works } from '../system/work.ts'

/** Counts the work of this process, and its duration. Requests are measured by each server. */
export function measureWork(registry: Registry): void {
  const histogram = (name: string, help: string, labels: ('outcome' | 'use')[], buckets: number[]) =>
    new Histogram({ name, help, labelNames: labels, buckets, registers: [registry] })
  const [fast, slow] = [
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900],
  ]
  const durations = {
    commit: histogram(
      'ganglion_commit_duration_seconds',
      'Time from a change to a knowledge base until it is durable and visible, with its turn in the queue of the writer.',
      ['outcome'],
      fast,
    ),
    follow: histogram(
      'ganglion_follow_duration_seconds',
      'Time in which the tables of a knowledge base followed commits of other writers.',
      ['outcome'],
      fast,
    ),
    job: histogram(
      'ganglion_ingest_job_duration_seconds',
      'Time of one attempt to ingest a Source.',
      ['outcome'],
      slow,
    ),
    model: histogram(
      'ganglion_model_request_duration_seconds',
      'Time until a model began to answer, by what it was asked for.',
      ['use', 'outcome'],
      slow,
    ),
    mail: histogram(
      'ganglion_mail_duration_seconds',
      'Time until the mail server took a mail, or refused it; `given-up` is one that is not tried again.',
      ['use', 'outcome'],
      fast,
    ),
    request: undefined,
  }
  const begun = new WeakMap<ObservedWork, number>()
  works.subscribe({
    start: (work) => void begun.set(work, performance.now()),
    asyncEnd(work) {
      const outcome = work.error === undefined && !work.hasFailed ? 'ok' : 'failed'
      const seconds = (performance.now() - (begun.get(work) ?? Number.NaN)) / 1000
      durations[work.kind]?.observe({ outcome, ...(work.use !== undefined && { use: work.use }) }, seconds)
    },
  })
}
