import type { Answered } from './chat-service.ts'

export type KeptTurn = { question: string; answered: Answered }
type Kept = { token?: string | undefined; turns: KeptTurn[] }

const maxTurns = 30

/** Conversation of a tab with one server, kept in `sessionStorage` if the browser allows it. */
export class KeptChat {
  readonly #key: string
  #kept: Kept = { turns: [] }

  constructor(api: string) {
    this.#key = `ganglion-chat ${api}`
    try {
      const kept: Kept = JSON.parse(sessionStorage.getItem(this.#key) ?? '{"turns":[]}')
      if (Array.isArray(kept.turns)) this.#kept = kept
    } catch {
      // The storage is blocked or its content is damaged: the conversation starts empty.
    }
  }

  get turns(): readonly KeptTurn[] {
    return this.#kept.turns
  }

  get token(): string | undefined {
    return this.#kept.token
  }

  set token(token: string | undefined) {
    this.#save({ ...this.#kept, token })
  }

  add(turn: KeptTurn): void {
    this.#save({ ...this.#kept, turns: [...this.#kept.turns, turn].slice(-maxTurns) })
  }

  clear(): void {
    this.#save({ ...this.#kept, turns: [] })
  }

  #save(kept: Kept): void {
    this.#kept = kept
    try {
      sessionStorage.setItem(this.#key, JSON.stringify(kept))
    } catch {
      // The storage is blocked or full: the conversation lasts until the page is closed.
    }
  }
}
