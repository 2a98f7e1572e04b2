// Lets no text become markup in this page. Imported first: it has to be in force before anything renders.

type TrustedTypesWindow = {
  readonly trustedTypes?: {
    createPolicy(name: string, rules: { createHTML: (text: string) => string | null }): unknown;
  };
};

// Style rules are all that the component library sets as text; without an angle bracket they cannot become elements.
(window as TrustedTypesWindow).trustedTypes?.createPolicy('default', {
  createHTML: (text) => (text.includes('<') ? null : text),
});
