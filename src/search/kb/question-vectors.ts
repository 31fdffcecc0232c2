import { LRUCache } from 'lru-cache'
import type { EmbeddingModel } from '../../models/embedding-model.ts'

const maxKept = 100

/** The vectors of a knowledge base's last questions: a question that is asked again, as with the next page, is not paid for twice. */
export class QuestionVectors {
  readonly #model: EmbeddingModel
  readonly #vectors = new LRUCache<string, Promise<Float32Array | undefined>>({ max: maxKept })

  constructor(model: EmbeddingModel) {
    this.#model = model
  }

  /** Undefined where the model does not give it in time. */
  of(question: string): Promise<Float32Array | undefined> {
    const vector = this.#vectors.get(question) ?? this.#model.question(question)
    this.#vectors.set(question, vector)
    void vector.then((found) => {
      if (found === undefined && this.#vectors.get(question) === vector) this.#vectors.delete(question)
    })
    return vector
  }
}
