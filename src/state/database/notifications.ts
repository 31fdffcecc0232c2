import type { Kysely } from 'kysely'
import type { Schema } from './schema.ts'
import { afterCommit } from './transaction.ts'

/** Topics of notifications between processes, each with its subject. */
export type Topic =
  /** A tenant has a new event. Its id. */
  | 'event'
  /** A job may be claimed. Nothing. */
  | 'job-waiting'
  /** A job is cancelled. The id of its Source. */
  | 'job-cancelled'
  /** A forge has said that something happened. The id of the link to it. */
  | 'forge'
  /** Refs of a knowledge base have moved. Its id. */
  | 'refs'
  /** A tenant or a knowledge base was renamed, disabled, enabled or deleted. Its id. */
  | 'life'

/** `subject`: undefined where some may have been missed. */
export type NotificationListener = (subject: string | undefined) => void

/**
 * Notifies listeners of writes, once they are committed. A notification is only a hint to look: the tables are the truth. This
 * implementation works within a process, which is enough for SQLite.
 */
export class Notifications {
  readonly #listeners = new Map<Topic, Set<NotificationListener>>()

  /** @param db the transaction that writes; listeners are notified once it is committed */
  async send(db: Kysely<Schema>, topic: Topic, subject: string): Promise<void> {
    afterCommit(db, () => this.deliver(topic, subject))
  }

  /** @returns how to stop listening. */
  listen(topic: Topic, listener: NotificationListener): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set()
    this.#listeners.set(topic, listeners.add(listener))
    return () => listeners.delete(listener)
  }

  async close(): Promise<void> {}

  protected deliver(topic: Topic, subject: string | undefined): void {
    for (const listener of this.#listeners.get(topic) ?? []) listener(subject)
  }

  /** Some may have been missed. */
  protected deliverAll(): void {
    for (const topic of this.#listeners.keys()) this.deliver(topic, undefined)
  }
}
