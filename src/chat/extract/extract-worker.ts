import type { Question } from '../answerer.ts'
import { extract } from './extract-answerer.ts'
import type { Extract } from './say-extract.ts'

/** Runs in a worker thread. */
export default function answer(question: Question): Extract {
  return extract(question)
}
