/** Thrown if a repository cannot become a knowledge base here. The message tells a person why, and what to do. */
export class AdoptionRefused extends Error {}
