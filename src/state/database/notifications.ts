import type { Kysely } from 'kysely'
import type { Schema } from './schema.ts'
import { afterCommit } from './transaction.ts'

/** Topics of notifications between processes. */
export type Topic =
  /** A tenant has a new event. Subject: its id. */
  | 'event'
  /** A job may be claimed. No subject. */
  | 'job-waiting'
  /** A job was cancelled. Subject: the id of its Source. */
  | 'job-cancelled'
  /** A forge has sent a webhook. Subject: the id of the link. */
  | 'forge'
  /** Refs of a knowledge base have moved. Subject: its id. */
  | 'refs'
  /** A tenant or knowledge base was renamed, disabled, enabled or deleted. Subject: its id. */
  | 'life'

/** Receives a notification. `subject`: undefined if some may have been missed. */
export type NotificationListener = (subject: string | undefined) => void

/**
 * Notifies listeners of writes after their commit. A notification is only a hint to read the tables. This implementation works
 * within a process, which is enough for SQLite.
 */
export class Notifications {
  readonly #listeners = new Map<Topic, Set<NotificationListener>>()

  /** Sends a notification. @param db the transaction that writes, whose commit notifies the listeners */
  async send(db: Kysely<Schema>, topic: Topic, subject: string): Promise<void> {
    afterCommit(db, () => this.deliver(topic, subject))
  }

  /** Adds a listener. @returns a function that removes it */
  listen(topic: Topic, listener: NotificationListener): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set()
    this.#listeners.set(topic, listeners.add(listener))
    return () => listeners.delete(listener)
  }

  async close(): Promise<void> {}

  protected deliver(topic: Topic, subject: string | undefined): void {
    for (const listener of this.#listeners.get(topic) ?? []) listener(subject)
  }

  /** Calls all listeners without a subject, because notifications may have been missed. */
  protected deliverAll(): void {
    for (const topic of this.#listeners.keys()) this.deliver(topic, undefined)
  }
}
