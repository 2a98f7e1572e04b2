# One image for every process: the server (all roles), the sandbox operator, and what prepares the database for them.
# Debian and not Alpine, because the Temporal worker needs glibc. The image that it is built on is named by its digest, so
# that the same source makes the same image: docs/compose.env.example says how to find it.
ARG NODE_IMAGE
FROM ${NODE_IMAGE} AS build
ARG NODE_IMAGE
RUN case "$NODE_IMAGE" in *@sha256:*) ;; *) echo "NODE_IMAGE has to name an image by its digest" >&2; exit 1 ;; esac
# Whoever names an older image by its digest gets that, whatever version stands before it.
RUN node -e 'process.exit(process.versions.node.startsWith("24.") ? 0 : 1)' || { echo "NODE_IMAGE has to have Node.js 24" >&2; exit 1; }
WORKDIR /app
COPY package.json package-lock.json .npmrc LICENSE ./
# The scripts of packages do not run. The only one that package.json allows is for the embedded PostgreSQL, which no container needs.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY tools ./tools
COPY src ./src
COPY workflows ./workflows
COPY activities ./activities
COPY console ./console
COPY docs ./docs
# The image has its own Node.js: the one that npm scripts use elsewhere is for our tools alone.
RUN node tools/build.mjs && npm prune --omit=dev --ignore-scripts --no-audit --no-fund \
  && rm -rf node_modules/node-linux-* node_modules/.bin/node && npm run --silent sbom > sbom.cdx.json

FROM ${NODE_IMAGE}
ENV NODE_ENV=production
# Memory for the smallest machine, as npm start has it; a larger one may have more.
ENV NODE_OPTIONS="--max-old-space-size=1024 --max-semi-space-size=16" MALLOC_ARENA_MAX=2
WORKDIR /app
COPY --from=build /app/package.json /app/LICENSE /app/sbom.cdx.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
RUN mkdir /var/lib/malipo && chown node /var/lib/malipo
USER node
EXPOSE 8080
CMD ["node", "dist/src/server/entries/server.js"]
